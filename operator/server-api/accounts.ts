import { type Ask, refusalText, Unreachable } from './server-client.ts';

interface Page {
  items: { id: string; username: string }[];
  page: { cursor: string | null };
}

/** Username to id of every account. Throws Unreachable when one page is refused: those on it would lose what they were granted. */
export async function accountsOf(ask: Ask): Promise<Map<string, string>> {
  const accounts = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const query = `limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
    const answer = await ask('GET', `/users?${query}`);
    if (answer.status !== 200) throw new Unreachable(`it does not name its accounts: ${refusalText(answer)}`);
    const { items, page } = answer.body as Page;
    for (const { id, username } of items) accounts.set(username, id);
    cursor = page.cursor ?? undefined;
  } while (cursor);
  return accounts;
}

/** Those that do not exist yet are taken up by a later pass. */
export function idsOf(usernames: readonly string[], accounts: ReadonlyMap<string, string>): string[] {
  return usernames.map((name) => accounts.get(name)).filter((id) => id !== undefined);
}
