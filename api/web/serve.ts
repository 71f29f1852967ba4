// The web app's files, before the router. Paths without an extension are pages of the app: all of them are the shell.
import type { Context, Middleware } from 'koa';
import type { Deps } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { BUILD, type Coding, readBuild, SHELL, type WebFile } from './files.ts';
import { manifestOf } from './manifest.ts';
import { otherVersions } from './other-versions.ts';
import { policyOf } from './policy.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const CHUNKS = '/_app/immutable/';
const MANIFEST = '/manifest.webmanifest';

/** Serves the build in `folder`; without a build, or for another path, the request is passed on. */
export function serveWeb(deps: Deps, folder = BUILD): Middleware {
  const files = readBuild(folder);
  const shell = files?.get(SHELL);
  if (!files || !shell) return (_ctx, next) => next();
  const policy = policyOf(shell.variants.identity.bytes.toString());
  const others = otherVersions(deps.objects, deps.log);
  const chunkElsewhere = async (path: string): Promise<WebFile | undefined> =>
    path.startsWith(CHUNKS) ? others.find(path) : undefined;
  return async (ctx, next) => {
    if (!['GET', 'HEAD'].includes(ctx.method) || /^\/api(\/|$)/.test(ctx.path)) return next();
    if (ctx.path === MANIFEST) return answerManifest(ctx, deps);
    const file = isPage(ctx.path) ? shell : (files.get(ctx.path) ?? (await chunkElsewhere(ctx.path)));
    if (!file) return next();
    if (file === shell) ctx.set('Content-Security-Policy', policy);
    answer(ctx, file);
  };
}

/** No segment has a dot: `/item/018f…`, but not `/.well-known/x` nor `/robots.txt`. */
const isPage = (path: string): boolean => !path.includes('.');

function answer(ctx: Context, { type, immutable, variants }: WebFile): void {
  const chosen = ctx.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
  const coding: Coding = chosen in variants ? (chosen as Coding) : 'identity';
  const { bytes, etag } = variants[coding] ?? variants.identity;
  if (Object.keys(variants).length > 1) ctx.vary('Accept-Encoding');
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  ctx.set('Cache-Control', immutable ? FOREVER : 'no-cache');
  ctx.set('ETag', etag);
  if (knowsEtag(ctx.get('If-None-Match') || undefined, etag)) {
    ctx.remove('Content-Encoding');
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = bytes;
}

async function answerManifest(ctx: Context, deps: Deps): Promise<void> {
  ctx.set('Cache-Control', 'no-cache');
  ctx.body = await manifestOf(deps);
  ctx.type = 'application/manifest+json';
}
