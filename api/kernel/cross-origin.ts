import type { Middleware } from 'koa';
import type { Deps } from './endpoint.ts';

/** Lets the origins of `network.corsOrigins` call with bearer tokens; no origin may use cookies. */
export function crossOrigin({ settings }: Deps): Middleware {
  return (ctx, next) => {
    const origins = settings.get('network.corsOrigins');
    if (origins.length === 0 && ctx.method !== 'OPTIONS') return next();
    const origin = ctx.get('Origin');
    ctx.vary('Origin');
    if (origin && origins.includes(origin)) {
      ctx.set('Access-Control-Allow-Origin', origin);
      ctx.set(
        'Access-Control-Expose-Headers',
        'ETag, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Content-Range',
      );
    }
    if (ctx.method !== 'OPTIONS') return next();
    ctx.status = 204;
    if (!ctx.response.get('Access-Control-Allow-Origin')) return undefined;
    ctx.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
    ctx.set(
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Range, X-Client-Id, X-Client-Name, X-Request-Id',
    );
    ctx.set('Access-Control-Max-Age', '600');
    return undefined;
  };
}
