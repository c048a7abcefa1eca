// Reads Server-Sent Events from a response to any method: EventSource can only GET.

export interface ServerEvent {
  event: string; // "message" if the stream does not say
  data: string;
  id: string;
}

// Yields the events of the stream until it ends (WHATWG HTML, 9.2.6). It uses a reader, because Safari's streams cannot be
// iterated. To end it while it waits, abort the request.
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let event = { event: "", data: [] as string[], id: "" };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          const [, name, text] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
          if (name === "data") event.data.push(text ?? "");
          else if (name === "event" || name === "id") event[name] = text ?? "";
          continue;
        }
        if (event.data.length) yield { event: event.event || "message", data: event.data.join("\n"), id: event.id };
        event = { event: "", data: [], id: event.id };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
