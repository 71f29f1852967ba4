import { invalid } from '#kernel/errors.ts';
import type { Keys } from '#platform/keys.ts';
import { headerBytes, MOST_HEADER_BYTES, MOST_HEADERS, type WebhookChange } from './webhooks.schemas.ts';
import { isMasked, masked, type Opened, openedParts, sealerFor, type WebhookRow } from './webhooks.store.ts';

/** Columns for a PATCH; new values replace those whose sealing key is missing. */
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

/** The address to store. The masked form of the present address is no change; any other masked form is 400. */
function writtenUrl({ url: before }: Partial<Opened>, { url }: WebhookChange): string | undefined {
  if (url === undefined || (before !== undefined && url === masked(before))) return undefined;
  requireUnmasked(url);
  return url;
}

function libraryIds({ libraryIds: ids }: WebhookChange): readonly string[] | null | undefined {
  return ids === undefined ? undefined : ids?.length ? ids : null;
}

/** Whether the host changes; also when the former address cannot be unsealed. */
const isElsewhere = (url: string, before: string | undefined): boolean =>
  before === undefined || new URL(url).host !== new URL(before).host;

/** For a new host only the headers of the request are kept, so that a stored token never goes to another server. */
function mergedHeaders(opened: Partial<Opened>, { url, headers }: WebhookChange): Record<string, string> | undefined {
  const moves = url !== undefined && isElsewhere(url, opened.url);
  if (!moves && headers === undefined) return undefined;
  const all = merged(moves ? {} : (opened.headers ?? {}), headers ?? {});
  if (Object.keys(all).length > MOST_HEADERS || headerBytes(all) > MOST_HEADER_BYTES)
    throw invalid(['body', 'headers'], 'too_big', 'at most 20 headers and 4 KiB');
  return all;
}

/** Merges headers by name in any letter case; null removes one. */
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
  if (isMasked(url)) throw invalid(['body', 'url'], 'masked_secret', 'the masked form is not an address');
}

/** 400 for an address with blanks or control characters, which a URL parser would drop. */
export function requireOneLine(url: string): void {
  if (/[\s\p{C}]/u.test(url)) throw invalid(['body', 'url'], 'invalid_url', 'not an address');
}
