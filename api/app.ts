import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { crossOrigin } from '#kernel/cross-origin.ts';
import type { Endpoint } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { envelope, type Kernel, serve } from '#kernel/pipeline.ts';
import { type Route, routesOf } from './lazy-area.ts';
import { routedAreas } from './routes.ts';
import { serveWeb } from './web/serve.ts';

const PREFIX = '/api/v1';

/** The whole API as a Koa application; it keeps no state of its own. */
export function createApp(kernel: Kernel): Koa {
  const app = new Koa();
  const web = serveWeb(kernel.deps);
  app.use(web.files);
  app.use(envelope(kernel));
  app.use(crossOrigin(kernel.deps));
  app.use(web.others);
  app.use(router(routesOf(routedAreas), kernel));
  app.use(() => {
    throw notFound();
  });
  app.on('error', (error: Error) => kernel.deps.log.debug({ err: error.message }, 'connection')); // a client that disconnected
  return app;
}

/** One router for each first segment, because a single router of 576 routes costs five times as much. */
function router(routes: readonly Route[], kernel: Kernel): Middleware {
  const bySegment = new Map<string, Router>();
  const literal = new Map<string, Middleware>(); // paths without parameters are matched by a map
  const inOrder = [...routes].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)); // by code unit: `~` sorts after every letter
  const refusals = shadowed(inOrder);
  for (const route of inOrder) {
    const segment = route.path.split('/')[1] ?? '';
    const ofSegment = bySegment.get(segment) ?? new Router();
    bySegment.set(segment, ofSegment);
    const handle = lazily(route, kernel);
    ofSegment[route.method](PREFIX + route.path, handle);
    for (const [method, allow] of refusals.get(route.path) ?? [])
      ofSegment[method](PREFIX + route.path, notAllowed(allow));
    if (!route.path.includes(':')) literal.set(`${route.method.toUpperCase()} ${route.path}`, handle);
  }
  const methods = methodsOf(routes);
  const literals = new Set(routes.map(({ path }) => path as string).filter((path) => !path.includes(':')));
  const handlers = new Map(
    [...bySegment].map(([segment, router]) => [segment, router.routes() as unknown as Middleware]),
  );
  const refuse = (path: string, method: string): void => {
    const allow = methods(path);
    if (allow && !allow.includes(method)) notAllowed(allow)();
  };
  return (ctx, next) => {
    if (!ctx.path.startsWith(`${PREFIX}/`)) return next();
    const path = ctx.path.slice(PREFIX.length);
    const exact = literal.get(`${ctx.method} ${path}`);
    if (exact) return exact(ctx, next);
    if (literals.has(path)) refuse(path, ctx.method); // a method that the literal path lacks never reaches the parameter route
    const handle = handlers.get(path.split('/', 2)[1] ?? '');
    const unmatched = (): Promise<unknown> => {
      refuse(path, ctx.method);
      return next();
    };
    return handle ? handle(ctx, unmatched) : unmatched();
  };
}

/** Serves a route; the first request to its area loads it. */
function lazily(route: Route, kernel: Kernel): Middleware {
  let served: Promise<Middleware> | undefined;
  return async (ctx, next) => {
    served ??= route.load().then((endpoint) => serve(endpoint, route.slug, kernel));
    served.catch(() => {
      served = undefined;
    });
    return (await served)(ctx, next);
  };
}

const notAllowed = (allow: readonly string[]) => (): never => {
  throw new ApiError('METHOD_NOT_ALLOWED', 'The address does not know this method', { allow: [...allow] });
};

type Method = Endpoint['method'];

/**
 * By path: methods of the parameter routes that a literal path shadows, since a literal segment is never a parameter's
 * value.
 */
function shadowed(routes: readonly Route[]): Map<string, [Method, string[]][]> {
  const methods = Map.groupBy(routes, ({ path }) => path as string);
  const alike = Map.groupBy(routes, ({ path }) => shapeOf(path)); // only these can cover each other
  const lacks = (path: string): [Method, string[]][] => {
    const own = (methods.get(path) ?? []).map(({ method }) => method);
    const wider = (alike.get(shapeOf(path)) ?? []).filter((other) => other.path !== path && covers(other.path, path));
    const missing = new Set(wider.map(({ method }) => method).filter((method) => !own.includes(method)));
    const allow = own.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
    return [...missing].map((method) => [method, allow]);
  };
  return new Map([...methods.keys()].filter((path) => path.includes(':')).map((path) => [path, lacks(path)]));
}

/** The first segment, which is never a parameter, and the number of segments. */
const shapeOf = (path: string): string => `${path.split('/')[1]} ${path.split('/').length}`;

/** True when each segment of `path` equals that of `wide` or stands for a parameter of `wide`. */
function covers(wide: string, path: string): boolean {
  const [a, b] = [wide.split('/'), path.split('/')];
  return (
    a.length === b.length &&
    a.every((segment, i) => segment === b[i] || (segment.startsWith(':') && !b[i]?.startsWith(':')))
  );
}

/** Sorts literal segments before parameters, because the router takes the first path that matches. */
function rank({ path }: Route): string {
  return path.replaceAll(':', '~');
}

/** Methods of the most literal path that matches; a literal segment always wins over a parameter. */
function methodsOf(routes: readonly Route[]): (path: string) => string[] | undefined {
  const byShape = new Map<string, string[]>();
  for (const { path, method } of routes) {
    const shape = path.replace(/:\w+/g, ':');
    const known = byShape.get(shape) ?? [];
    byShape.set(shape, [...known, method.toUpperCase(), ...(method === 'get' ? ['HEAD'] : [])]);
  }
  const deepest = Math.max(...[...byShape.keys()].map((shape) => shape.split('/').length - 1));
  // Each segment doubles the search, so paths deeper than any of ours are not searched.
  return (path) => {
    const segments = path.split('/', deepest + 2).slice(1);
    return segments.length > deepest ? undefined : fit(segments, '', byShape);
  };
}

function fit(rest: string[], shape: string, byShape: Map<string, string[]>): string[] | undefined {
  const [segment, ...others] = rest;
  if (segment === undefined) return byShape.get(shape);
  return fit(others, `${shape}/${segment}`, byShape) ?? fit(others, `${shape}/:`, byShape);
}
