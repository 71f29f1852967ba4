// The web app's files. Paths without an extension are pages of the app: all of them are the shell.
import type { Context, Middleware } from 'koa';
import type { Deps } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { hasTwoHosts, headOf, noteAnswer } from '#kernel/head.ts';
import { BUILD, type Coding, readBuild, SHELL, type WebFile } from './files.ts';
import { manifestOf } from './manifest.ts';
import { otherVersions } from './other-versions.ts';
import { policyOf } from './policy.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const CHUNKS = '/_app/immutable/';
const MANIFEST = '/manifest.webmanifest';

export interface Web {
  /** Before the envelope: the files of the build, whose answers are known at the start and written at once. */
  files: Middleware;
  /** Within the envelope: chunks of other versions, and the manifest, which has the name of the server. */
  others: Middleware;
}

const passOn: Middleware = (_ctx, next) => next();

/** Serves the build in `folder`; without a build, or for another path, the request is passed on. */
export function serveWeb(deps: Deps, folder = BUILD): Web {
  const files = readBuild(folder);
  const shell = files?.get(SHELL);
  if (!files || !shell) return { files: passOn, others: passOn };
  const policy = ['Content-Security-Policy', policyOf(shell.variants.identity.bytes.toString())];
  const ready = new Map([...files].map(([path, file]) => [path, readyOf(file, file === shell ? policy : [])]));
  const page = ready.get(SHELL);
  const versions = otherVersions(deps.objects, deps.log);
  return {
    files: (ctx, next) => {
      if (!isRead(ctx) || hasTwoHosts(ctx.req)) return next();
      const file = isPage(ctx.path) ? page : ready.get(ctx.path);
      if (!file) return next();
      const began = performance.now();
      const { requestId, headers } = headOf(ctx.req, deps);
      const status = answer(ctx, file, headers);
      noteAnswer(deps, { requestId, method: ctx.method, status, began });
      return undefined;
    },
    others: async (ctx, next) => {
      if (!isRead(ctx)) return next();
      if (ctx.path === MANIFEST) return answerManifest(ctx, deps);
      const file = ctx.path.startsWith(CHUNKS) ? await versions.find(ctx.path) : undefined;
      if (!file) return next();
      answer(ctx, readyOf(file));
    },
  };
}

const isRead = ({ method, path }: Context): boolean =>
  (method === 'GET' || method === 'HEAD') && !(path.startsWith('/api') && (path.length === 4 || path[4] === '/'));

/** No segment has a dot: `/item/018f…`, but not `/.well-known/x` nor `/robots.txt`. */
const isPage = (path: string): boolean => !path.includes('.');

/** A file with the headers of each coding: names and values in turn. */
type Ready = Partial<Record<Coding, ReadyVariant>> & { identity: ReadyVariant };

interface ReadyVariant {
  bytes: Buffer;
  etag: string;
  /** Of 200 and of 304. */
  always: string[];
  /** Of 200 alone. */
  ofBody: string[];
}

function readyOf({ type, immutable, variants }: WebFile, more: readonly string[] = []): Ready {
  const vary = Object.keys(variants).length > 1 ? ['Vary', 'Accept-Encoding'] : [];
  const each = Object.entries(variants).map(([coding, { bytes, etag }]): [string, ReadyVariant] => {
    const always = [...more, ...vary, 'Cache-Control', immutable ? FOREVER : 'no-cache', 'ETag', etag];
    const coded = coding === 'identity' ? [] : ['Content-Encoding', coding];
    return [
      coding,
      { bytes, etag, always, ofBody: [...coded, 'Content-Type', type, 'Content-Length', `${bytes.length}`] },
    ];
  });
  return Object.fromEntries(each) as Ready;
}

/** Writes the whole answer, and returns its status. */
function answer(ctx: Context, file: Ready, headers: readonly string[] = []): number {
  ctx.respond = false; // Koa would set each header by itself, which is most of the work for a small file
  const { bytes, etag, always, ofBody } = file[codingFor(ctx)] ?? file.identity;
  const isKnown = knowsEtag(ctx.headers['if-none-match'], etag);
  if (isKnown) ctx.res.writeHead(304, [...headers, ...always]).end();
  else ctx.res.writeHead(200, [...headers, ...always, ...ofBody]).end(ctx.method === 'HEAD' ? undefined : bytes);
  return isKnown ? 304 : 200;
}

/** Results by the header, because browsers have few. */
const codings = new Map<string, Coding>();
const REMEMBERED = 100;

function codingFor(ctx: Context): Coding {
  const header = ctx.headers['accept-encoding'] ?? '';
  const known = codings.get(header);
  if (known) return known;
  const coding = (ctx.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as Coding;
  if (codings.size >= REMEMBERED) codings.clear();
  codings.set(header, coding);
  return coding;
}

async function answerManifest(ctx: Context, deps: Deps): Promise<void> {
  ctx.set('Cache-Control', 'no-cache');
  ctx.body = await manifestOf(deps);
  ctx.type = 'application/manifest+json';
}
