// What the tests use of node, whose own types would come with those of a server's globals.
declare const process: { env: Record<string, string | undefined> };
declare function setImmediate(work: (value: unknown) => void): void;

declare module "node:test" {
  export interface TestContext {
    after(clean: () => void | Promise<void>): void;
    mock: { timers: { enable(options: { apis: ("setTimeout" | "Date")[] }): void; tick(milliseconds: number): void } };
  }
  export function test(name: string, run: (context: TestContext) => Promise<void> | void): void;
}

declare module "node:assert/strict" {
  const assert: {
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(actual: unknown, message?: string): void;
    rejects(promise: Promise<unknown>, expected: object): Promise<void>;
  };
  export default assert;
}
