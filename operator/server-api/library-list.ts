// The libraries of one server, read all at once: a thousand resources cost one request, not a thousand.
import { isDeepStrictEqual } from 'node:util';
import type { ServerLibrary } from '../library/server-library.ts';
import { accountsOf } from './accounts.ts';
import { type Answer, type Ask, refusalText } from './server-client.ts';

const FRESH_MS = 10_000;
const ACCOUNTS_MS = 60_000;

/** The server answered, and not with its libraries. */
export class NoList extends Error {}

interface Held {
  /** Of the answer to a write, or of a list. */
  at: number;
  library: ServerLibrary;
}

export class LibraryList {
  readonly #ask: Ask;
  readonly #changed: (library: ServerLibrary) => void;
  #held = new Map<string, Held>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;
  #accounts: { at: number; value: Promise<Map<string, string>> } | undefined;

  /** `changed` is told of what a list shows otherwise than it was held; of what is gone, as it was. */
  constructor(ask: Ask, changed: (library: ServerLibrary) => void = () => undefined) {
    this.#ask = ask;
    this.#changed = changed;
  }

  /** As `GET /libraries/{id}` would answer, at most ten seconds old. Throws Unreachable or NoList. */
  async read(id: string): Promise<Answer> {
    await this.#refresh();
    const library = this.#held.get(id)?.library;
    return library ? { status: 200, body: library } : { status: 404, body: undefined };
  }

  /** At most ten seconds old. Throws likewise. */
  async all(): Promise<ServerLibrary[]> {
    await this.#refresh();
    return [...this.#held.values()].map(({ library }) => library);
  }

  /** The library that was made for the resource with this uid. */
  async madeFor(uid: string): Promise<string | undefined> {
    return (await this.all()).find(({ managedBy }) => managedBy?.uid === uid)?.id;
  }

  /** Asks the server, and takes what it answers of a library over. */
  readonly ask: Ask = async (method, path, body) => {
    const answer = await this.#ask(method, path, body);
    const { id, folders } = (answer.body ?? {}) as Partial<ServerLibrary>; // a scan has both too
    if (answer.status < 300 && path.startsWith('/libraries') && id && folders)
      this.#held.set(id, { at: performance.now(), library: answer.body as ServerLibrary });
    if (method === 'DELETE') this.#held.delete(path.replace('/libraries/', ''));
    if (path.endsWith('/scan')) this.#listedAt = Number.NEGATIVE_INFINITY;
    return answer;
  };

  /** Usernames to ids, at most a minute old. */
  accounts(): Promise<Map<string, string>> {
    if (this.#accounts && performance.now() - this.#accounts.at < ACCOUNTS_MS) return this.#accounts.value;
    const value = accountsOf(this.#ask);
    this.#accounts = { at: performance.now(), value };
    value.catch(() => {
      this.#accounts = undefined;
    });
    return value;
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#listedAt < FRESH_MS) return;
    this.#listing ??= this.#list();
    await this.#listing;
  }

  async #list(): Promise<void> {
    const began = performance.now();
    try {
      const answer = await this.#ask('GET', '/libraries');
      if (answer.status !== 200) throw new NoList(refusalText(answer));
      const listed = (answer.body as ServerLibrary[]).map((library) => [library.id, { at: began, library }] as const);
      // What was written while the list was made is newer than it.
      const written = [...this.#held].filter(([, { at }]) => at > began);
      const before = this.#held;
      const isFirst = before.size === 0;
      this.#held = new Map<string, Held>([...listed, ...written]);
      this.#listedAt = began;
      if (!isFirst) this.#compare(before);
    } finally {
      this.#listing = undefined;
    }
  }

  #compare(before: ReadonlyMap<string, Held>): void {
    for (const [id, { library }] of this.#held)
      if (!isDeepStrictEqual(library, before.get(id)?.library)) this.#changed(library);
    for (const [id, { library }] of before) if (!this.#held.has(id)) this.#changed(library);
  }
}
