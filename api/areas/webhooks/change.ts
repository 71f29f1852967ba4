import { invalid } from '#kernel/errors.ts';
import type { Keys } from '#platform/keys.ts';
import { headerBytes, MOST_HEADER_BYTES, MOST_HEADERS, type WebhookChange } from './webhooks.schemas.ts';
import { isMasked, masked, type Opened, openedParts, sealerFor, type WebhookRow } from './webhooks.store.ts';

/** Columns of what a PATCH names; it also mends what no key opens any more. */
export function changedRow(keys: Keys, row: WebhookRow, wanted: WebhookChange): Record<string, unknown> {
  const opened = openedParts(keys, row);
  const change = { ...wanted, url: writtenUrl(opened, wanted) };
  const sealed = sealerFor(keys, row.id);
  const headers = mergedHeaders(opened, change);
  const columns = {
    name: change.name,
    format: change.format,
    events: change.events,
    library_ids: libraryIds(change),
    ...(change.url !== undefined && { url: sealed('url', change.url) }),
    ...(change.secret && { secret: sealed('secret', change.secret) }),
    ...(headers && {
      headers: sealed('headers', JSON.stringify(headers)),
      header_names: Object.keys(headers),
    }),
    ...(change.enabled !== undefined && { enabled: change.enabled }),
    ...(change.enabled && { switched_off_at: null, failures: 0, owner_lost: false }),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** The masked form is shown and never stored: sent back it is no change, and of another address it is none. */
function writtenUrl({ url: before }: Partial<Opened>, { url }: WebhookChange): string | undefined {
  if (url === undefined || (before !== undefined && url === masked(before))) return undefined;
  requireUnmasked(url);
  return url;
}

function libraryIds({ libraryIds: ids }: WebhookChange): readonly string[] | null | undefined {
  return ids === undefined ? undefined : ids?.length ? ids : null;
}

/** Another host, or one after an address that nobody can read. */
const isElsewhere = (url: string, before: string | undefined): boolean =>
  before === undefined || new URL(url).host !== new URL(before).host;

/** A new host gets only what is sent with it, so that a stored token never goes to another server. */
function mergedHeaders(opened: Partial<Opened>, { url, headers }: WebhookChange): Record<string, string> | undefined {
  const moves = url !== undefined && isElsewhere(url, opened.url);
  if (!moves && headers === undefined) return undefined;
  const all = merged(moves ? {} : (opened.headers ?? {}), headers ?? {});
  if (Object.keys(all).length > MOST_HEADERS || headerBytes(all) > MOST_HEADER_BYTES)
    throw invalid(['body', 'headers'], 'too_big', 'at most 20 headers and 4 KiB');
  return all;
}

/** By name in any letter case; null takes one away. */
function merged(
  kept: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const all = new Map<string, [string, string]>();
  for (const [name, value] of [...Object.entries(kept), ...Object.entries(sent)])
    if (value === null) all.delete(name.toLowerCase());
    else all.set(name.toLowerCase(), [name, value]);
  return Object.fromEntries(all.values());
}

export function requireUnmasked(url: string): void {
  if (isMasked(url)) throw invalid(['body', 'url'], 'masked_secret', 'the masked form is no address');
}

/** URLs drop line breaks when they are read; an address that has some is none. */
export function requireOneLine(url: string): void {
  if (/[\s\p{C}]/u.test(url)) throw invalid(['body', 'url'], 'invalid_url', 'not an address');
}
