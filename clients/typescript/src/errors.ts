// Responses of the service that are no success.

// An error response of the service: its status, its `code` if there is one, and the whole body.
export class RefusedError extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(`${status}: ${String(body["error"] ?? "")}`);
    this.status = status;
    this.body = body;
  }

  get code(): string | undefined {
    return this.body["code"] as string | undefined;
  }

  // In seconds, for 429 and 503.
  get retryAfter(): number | undefined {
    return this.body["retryAfter"] as number | undefined;
  }
}

// The connection is of another account than the copy: nothing was read into it or sent from it.
export class OtherAccountError extends Error {
  readonly accountId: string; // that of the connection

  constructor(accountId: string) {
    super("This copy is of another account: take a store of its own for each.");
    this.accountId = accountId;
  }
}

// Returns the body, or an empty one if it is no JSON, such as the error page of a proxy.
export async function bodyOf(response: Response): Promise<Record<string, any>> {
  return response.json().catch(() => ({}));
}

export async function requireSuccess(response: Response): Promise<Record<string, any>> {
  const body = await bodyOf(response);
  if (!response.ok) throw new RefusedError(response.status, body);
  return body;
}
