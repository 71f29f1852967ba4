import type { Bytes, Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { DEFAULT } from '../document/built-in.ts';
import { themesOf } from '../memory.ts';
import type { ServerTheme, StylesheetQuery } from '../themes.schemas.ts';
import { type Compiled, compiledOf, type Sheet } from './compiled.ts';
import { chainOf, type Source } from './resolve.ts';

const YEAR = 'public, max-age=31536000, immutable';
const ASK = 'public, no-cache';

/** `default`, as a page asks for it that knows no theme yet. */
const SERVERS = 'default';

function serverThemeFor(
  { themeId, lightThemeId, darkThemeId }: ServerTheme,
  scheme: StylesheetQuery['scheme'],
): string {
  const own = { light: lightThemeId, dark: darkThemeId, both: undefined };
  return own[scheme] ?? themeId;
}

interface Asked {
  id: string;
  scheme: StylesheetQuery['scheme'];
}

interface Found {
  compiled: Compiled;
  /** The theme that was asked for, and not one in its place. */
  right: boolean;
}

/** There is always one: the server's in place of what is none, the built-in one while the rows are away. */
async function find({ deps }: Call, { id, scheme }: Asked, doubted = false): Promise<Found> {
  const themes = themesOf(deps);
  const known = await themes.known(doubted);
  const byServer = serverThemeFor(known.server, scheme);
  const asked = id === SERVERS ? byServer : id;
  const compiled = await themes.compiled(asked, known);
  if (compiled) return { compiled, right: true };
  const server = await themes.compiled(byServer, known);
  return { compiled: server ?? compiledOf(builtIn()), right: false };
}

const builtIn = (): Source[] => chainOf<Source>(DEFAULT, new Map()) ?? [];

export async function serveStylesheet(call: Call, id: string, { v, scheme }: StylesheetQuery): Promise<Bytes> {
  const asked = { id: id.toLowerCase(), scheme };
  const first = await find(call, asked);
  const isOther = v !== undefined && v !== first.compiled.version;
  const { compiled, right } = isOther ? await find(call, asked, true) : first;
  const coding = codingFor(call.headers['accept-encoding']);
  const etag = `"${[compiled.version, scheme, coding].filter(Boolean).join('-')}"`;
  const { header, status } = call.reply;
  header('ETag', etag);
  header('Cache-Control', right && v === compiled.version ? YEAR : ASK);
  header('Vary', 'Accept-Encoding');
  if (knowsEtag(call.headers['if-none-match'], etag)) {
    status(304);
    return { body: null };
  }
  if (coding) header('Content-Encoding', coding);
  const body = (await compiled.sheet(scheme))[coding ?? 'plain'];
  return { body, type: 'text/css; charset=utf-8', length: body.length };
}

type Coding = Exclude<keyof Sheet, 'plain'>;

/** The smaller first. */
function codingFor(accept: string | string[] | undefined): Coding | undefined {
  const taken = String(accept ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
    .filter(([, q = 'q=1']) => Number(q.slice(2)) > 0)
    .map(([name]) => name);
  return (['br', 'gzip'] as const).find((name) => taken.includes(name));
}
