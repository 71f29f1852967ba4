import { z } from 'zod';
import { fontKey, fontsKey, openToReceivers, sendObject } from '#areas/streaming/public.ts';
import { bytes, type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { Id, IdParams } from '#kernel/schemas.ts';
import { attachedNames } from './attached.ts';
import { extracted } from './extracted.ts';
import { type Film, getFilm } from './film.ts';

const FontQuery = z.object({
  fileId: Id.optional().describe('The default file when absent'),
  ticket: z.string().max(2000).optional().describe('Cast ticket'),
});

const Fonts = z.object({
  items: z.array(
    z.object({
      name: z.string().meta({ example: 'Films' }),
      family: z.string().optional(),
      style: z.string().optional(),
      mime: z.string().meta({ example: 'video/x-matroska' }),
      sizeBytes: z.int().meta({ example: 4294967296 }),
      url: z.string().meta({ example: 'https://hooks.example/foyer' }),
    }),
  ),
});

/** The list of attached fonts that a worker stores. */
const StoredFonts = z.array(
  z.object({
    place: z.int(),
    mime: z.string().meta({ example: 'video/x-matroska' }),
    sizeBytes: z.int().meta({ example: 4294967296 }),
  }),
);
type Font = z.infer<typeof StoredFonts>[number] & { name: string };

const errors = ['STORAGE_UNAVAILABLE', 'TRANSCODE_FAILED', 'TRANSCODE_LIMIT_REACHED'] as const;

/** The fonts of a film with their names. */
async function fontsOf(call: Call, film: Film): Promise<Font[]> {
  const names = attachedNames(film.probe?.streams ?? []);
  if (names.length === 0) return [];
  const stored = StoredFonts.parse(JSON.parse((await extracted(call, film, fontsKey(film))).toString('utf8')));
  return stored.flatMap((font) => {
    const name = names.find(({ place }) => place === font.place)?.name;
    return name === undefined ? [] : [{ ...font, name }];
  });
}

export const listItemFonts = defineEndpoint({
  operationId: 'listItemFonts',
  method: 'get',
  path: '/items/:id/fonts',
  summary: 'List the fonts attached to a file',
  description:
    'Uses the default file of the item unless `fileId` is given. Only attachments that are fonts are listed, at most 500 of 25 MiB each; duplicate names get a number. A file without fonts returns an empty list.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: IdParams,
  query: FontQuery,
  answer: json(200, Fonts),
  errors,

  async handle({ params, query }, call) {
    const film = await getFilm(call, params.id, query.fileId);
    const fonts = await fontsOf(call, film);
    openToReceivers(call, query.ticket);
    return {
      items: fonts.map(({ name, mime, sizeBytes }) => ({
        ...{ name, mime, sizeBytes },
        url: `/api/v1/items/${params.id}/fonts/${encodeURIComponent(name)}?fileId=${film.fileId}`,
      })),
    };
  },
});

export const getItemFont = defineEndpoint({
  operationId: 'getItemFont',
  method: 'get',
  path: '/items/:id/fonts/:name',
  summary: 'Read a font attached to a file',
  description:
    '`name` is a name of listItemFonts, never a path. The bytes are immutable for a `fileId`. The response is 423 when the storage is unavailable and the font was not extracted before.',
  access: { permission: 'library:view' },
  castTicket: true,
  params: z.object({
    id: Id,
    name: z.string().min(1).max(255).describe('One of listItemFonts, never a path').meta({ example: 'Films' }),
  }),
  query: FontQuery,
  answer: bytes('font/ttf', 'font/otf', 'font/woff', 'font/woff2', 'font/collection'),
  errors,

  async handle({ params, query }, call) {
    const film = await getFilm(call, params.id, query.fileId);
    const font = (await fontsOf(call, film)).find(({ name }) => name === params.name);
    if (!font) throw notFound();
    openToReceivers(call, query.ticket);
    call.reply.header('Content-Security-Policy', "sandbox; default-src 'none'");
    return sendObject(call, {
      bucket: 'foyer-subtitles',
      key: fontKey(film, font.place),
      type: font.mime,
      cacheControl: 'private, max-age=31536000, immutable',
    });
  },
});
