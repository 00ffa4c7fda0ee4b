// The members of something that was sent. Whoever takes one draws it, and what nobody took is drawn as the rest: so
// nothing is left out.

export type Pair = readonly [name: string, value: unknown];

export const isObject = (value: unknown): value is object => value !== null && typeof value === "object" && !Array.isArray(value);

export class Members {
  private readonly left: Map<string, unknown>;

  /** Of what is no object there are none. */
  constructor(of: unknown) {
    this.left = new Map(isObject(of) ? Object.entries(of) : []);
  }

  /** A member, if it is what is looked for: it stays otherwise. */
  take<T>(name: string, isIt: (value: unknown) => value is T): T | undefined {
    const value = this.left.get(name);
    if (!isIt(value)) return undefined;
    this.left.delete(name);
    return value;
  }

  text(name: string): string | undefined {
    return this.take(name, (value): value is string => typeof value === "string" && value !== "");
  }

  /** A time that can be told. */
  time(name: string): string | undefined {
    return this.take(name, (value): value is string => typeof value === "string" && !Number.isNaN(Date.parse(value)));
  }

  list(name: string): readonly unknown[] | undefined {
    return this.take(name, (value): value is readonly unknown[] => Array.isArray(value) && value.length > 0);
  }

  object(name: string): object | undefined {
    return this.take(name, isObject);
  }

  /** The first of these that is there. */
  first(...names: readonly string[]): unknown {
    const name = names.find((one) => this.left.get(one) !== undefined && this.left.get(one) !== null);
    return name === undefined ? undefined : this.take(name, (_): _ is unknown => true);
  }

  /** What was not taken. */
  rest(): readonly Pair[] {
    return [...this.left];
  }
}
