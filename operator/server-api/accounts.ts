import type { Ask } from './server-client.ts';

interface Page {
  items: { id: string; username: string }[];
  page: { cursor: string | null };
}

/** Username to id of every account; what was read before a refusal. */
export async function accountsOf(ask: Ask): Promise<Map<string, string>> {
  const accounts = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const query = `limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`;
    const { status, body } = await ask('GET', `/users?${query}`);
    if (status !== 200) return accounts;
    const { items, page } = body as Page;
    for (const { id, username } of items) accounts.set(username, id);
    cursor = page.cursor ?? undefined;
  } while (cursor);
  return accounts;
}

/** Those that do not exist yet are taken up by a later pass. */
export function idsOf(usernames: readonly string[], accounts: ReadonlyMap<string, string>): string[] {
  return usernames.map((name) => accounts.get(name)).filter((id) => id !== undefined);
}
