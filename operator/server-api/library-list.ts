// The libraries of one server, read in one request instead of one per resource.
import { isDeepStrictEqual } from 'node:util';
import type { ServerLibrary } from '../library/server-library.ts';
import { accountsOf } from './accounts.ts';
import { type Answer, refusalText, type SendRequest } from './server-client.ts';

const FRESH_MS = 10_000;
const ACCOUNTS_MS = 60_000;

/** The server did not return its libraries. */
export class NoList extends Error {}

interface Held {
  /** Time of the response to a write, or of the list. */
  at: number;
  library: ServerLibrary;
}

export class LibraryList {
  readonly #request: SendRequest;
  readonly #changed: (library: ServerLibrary) => void;
  #held = new Map<string, Held>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;
  #accounts: { at: number; value: Promise<Map<string, string>> } | undefined;

  /** `changed` is called with each library that differs from its cached state, and with each removed one. */
  constructor(request: SendRequest, changed: (library: ServerLibrary) => void = () => undefined) {
    this.#request = request;
    this.#changed = changed;
  }

  /** The response of `GET /libraries/{id}`, at most ten seconds old. Throws Unreachable or NoList. */
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

  /** The library that was created for the resource with this uid. */
  async madeFor(uid: string): Promise<string | undefined> {
    return (await this.all()).find(({ managedBy }) => managedBy?.uid === uid)?.id;
  }

  /** Sends a request, and caches the library in its response. */
  readonly request: SendRequest = async (method, path, body) => {
    const answer = await this.#request(method, path, body);
    // A Scan has an id and folders too, so it must not be taken for a library.
    const isScan = path.endsWith('/scan');
    const { id, folders } = (answer.body ?? {}) as Partial<ServerLibrary>;
    if (answer.status < 300 && path.startsWith('/libraries') && !isScan && id && folders)
      this.#held.set(id, { at: performance.now(), library: answer.body as ServerLibrary });
    if (method === 'DELETE') this.#held.delete(path.replace('/libraries/', ''));
    if (isScan) this.#listedAt = Number.NEGATIVE_INFINITY;
    return answer;
  };

  /** Account ids by username, at most a minute old. */
  accounts(): Promise<Map<string, string>> {
    if (this.#accounts && performance.now() - this.#accounts.at < ACCOUNTS_MS) return this.#accounts.value;
    const value = accountsOf(this.#request);
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
      const answer = await this.#request('GET', '/libraries');
      if (answer.status !== 200) throw new NoList(refusalText(answer));
      const listed = (answer.body as ServerLibrary[]).map((library) => [library.id, { at: began, library }] as const);
      // Writes during the list are newer than the list.
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
