import { withoutTail } from '#platform/text.ts';
import type { Call } from './endpoint.ts';

/** Origin of this server for links: `server.publicUrl`, else the address that the caller uses now. */
export function ownAddress({ client, deps, headers }: Call): string {
  const published = deps.settings.get('server.publicUrl');
  if (published) return withoutTail(published, '/');
  return `${client.secure ? 'https' : 'http'}://${headers.host ?? `127.0.0.1:${deps.config.port}`}`;
}
