import { refusalText, type SendRequest, Unreachable } from './server-client.ts';

interface Page {
  items: { id: string; username: string }[];
  page: { cursor: string | null };
}

/** Usernames in the form that the server compares at sign-in, ignoring letter case. */
const plain = (username: string): string => username.normalize('NFC').trim().toLowerCase();

/**
 * Ids of all accounts by normalized username. Throws Unreachable when one page is refused: its accounts would lose their
 * access.
 */
export async function accountsOf(request: SendRequest): Promise<Map<string, string>> {
  const accounts = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const query = `limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
    const answer = await request('GET', `/users?${query}`);
    if (answer.status !== 200) throw new Unreachable(`it does not name its accounts: ${refusalText(answer)}`);
    const { items, page } = answer.body as Page;
    for (const { id, username } of items) accounts.set(plain(username), id);
    cursor = page.cursor ?? undefined;
  } while (cursor);
  return accounts;
}

export interface Named {
  /** Ids of existing accounts, each once. */
  ids: string[];
  /** Usernames without an account, as they were written. */
  unknown: string[];
}

/** A later pass adds accounts that do not exist yet. */
export function accountsNamed(usernames: readonly string[], accounts: ReadonlyMap<string, string>): Named {
  const ids = usernames.map((name) => accounts.get(plain(name))).filter((id) => id !== undefined);
  return { ids: [...new Set(ids)], unknown: usernames.filter((name) => !accounts.has(plain(name))) };
}
