import { codingFor } from '#kernel/content-coding.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { DEFAULT } from '../document/built-in.ts';
import { themesOf } from '../memory.ts';
import type { ServerTheme, StylesheetQuery } from '../themes.schemas.ts';
import { type Compiled, compiledOf } from './compiled.ts';
import { chainOf, type Source } from './resolve.ts';

const YEAR = 'public, max-age=31536000, immutable';
const REVALIDATE = 'public, no-cache';

/** The id of the server's default, for pages that know no theme yet. */
const SERVER_DEFAULT = 'default';

function serverThemeFor(
  { themeId, lightThemeId, darkThemeId }: ServerTheme,
  scheme: StylesheetQuery['scheme'],
): string {
  const own = { light: lightThemeId, dark: darkThemeId, both: undefined };
  return own[scheme] ?? themeId;
}

interface Requested {
  id: string;
  scheme: StylesheetQuery['scheme'];
}

interface Found {
  compiled: Compiled;
  /** Whether it is the requested theme and not a replacement. */
  right: boolean;
}

/** Always finds a theme: the server's for an unknown id, the built-in one while the rows are unavailable. */
async function find({ deps }: Call, { id, scheme }: Requested, doubted = false): Promise<Found> {
  const themes = themesOf(deps);
  const known = await themes.known(doubted);
  const byServer = serverThemeFor(known.server, scheme);
  const requested = id === SERVER_DEFAULT ? byServer : id;
  const compiled = await themes.compiled(requested, known);
  if (compiled) return { compiled, right: true };
  const server = await themes.compiled(byServer, known);
  return { compiled: server ?? compiledOf(builtIn()), right: false };
}

const builtIn = (): Source[] => chainOf<Source>(DEFAULT, new Map()) ?? [];

export async function serveStylesheet(call: Call, id: string, { v, scheme }: StylesheetQuery): Promise<Bytes> {
  const requested = { id: id.toLowerCase(), scheme };
  const first = await find(call, requested);
  const isOther = v !== undefined && v !== first.compiled.version;
  const { compiled, right } = isOther ? await find(call, requested, true) : first;
  const coding = codingFor(call.headers['accept-encoding']);
  const etag = `"${[compiled.version, scheme, coding].filter(Boolean).join('-')}"`;
  const { header, status } = call.reply;
  header('ETag', etag);
  header('Cache-Control', right && v === compiled.version ? YEAR : REVALIDATE);
  header('Vary', 'Accept-Encoding');
  if (knowsEtag(call.headers['if-none-match'], etag)) {
    status(304);
    return { body: null };
  }
  if (coding) header('Content-Encoding', coding);
  const body = (await compiled.sheet(scheme))[coding ?? 'plain'];
  return { body, type: 'text/css; charset=utf-8', length: body.length };
}
