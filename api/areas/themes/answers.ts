import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { builtInOf, DEFAULT } from './document/built-in.ts';
import { tokens } from './document/tokens.ts';
import type { Theme, ThemeToken } from './themes.schemas.ts';
import { readTheme } from './themes.view.ts';

/** The theme with its ETag, of revision, version and content; 304 if the client has it already. */
export async function answerTheme(call: Call, id: string, { resolved } = { resolved: false }): Promise<Theme> {
  const theme = await readTheme(call, id, { resolved });
  const digest = createHash('sha256').update(JSON.stringify(theme)).digest('base64url').slice(0, 16);
  const etag = `"${theme.revision}-${theme.version}-${digest}"`;
  call.reply.header('ETag', etag);
  call.reply.header('Cache-Control', 'private, no-cache');
  if (call.method === 'GET' && knowsEtag(call.headers['if-none-match'], etag)) call.reply.status(304);
  return theme;
}

/** All tokens; the default is the value in foyer-dark's dark scheme. */
export function tokenList(): z.input<typeof ThemeToken>[] {
  const { schemes = {}, shared = {} } = builtInOf(DEFAULT) ?? {};
  return tokens.map(({ values, ...one }) => ({
    ...one,
    ...(values && { values: [...values] }),
    default: (one.scheme ? schemes.dark?.[one.name] : shared[one.name]) ?? '',
  }));
}
