import { z } from 'zod';
import { calendarDay } from '../calendar.ts';
import type { ItemValues, NamedCredit } from '../item-values.ts';
import type { Agent, Description, Found, Identity, Query, RemotePicture, Wanted } from './agent.ts';
import { credits, idOf, known, list, NUMBER, names, number, plain, roleOf, text } from './parts.ts';

const MOST_FOUND = 10;
const TAGS = 15;

const FuzzyDate = z.object({ year: number(), month: number(), day: number() }).nullish();
type FuzzyDate = z.output<typeof FuzzyDate>;
const Name = z.object({ full: text() }).nullish();
const Media = z.object({
  id: z.int(),
  idMal: number(),
  type: text(),
  format: text(),
  status: text(),
  title: z.object({ romaji: text(), english: text(), native: text() }),
  synonyms: list(z.string()),
  description: text(),
  startDate: FuzzyDate,
  episodes: number(),
  volumes: number(),
  duration: number(),
  averageScore: number(),
  countryOfOrigin: text(),
  isAdult: z.boolean().nullish(),
  genres: list(z.string()),
  tags: list(z.object({ name: text(), isMediaSpoiler: z.boolean().nullish() })),
  coverImage: z.object({ extraLarge: text(), large: text(), medium: text() }).nullish(),
  bannerImage: text(),
  studios: z.object({ nodes: list(z.object({ name: text(), isAnimationStudio: z.boolean().nullish() })) }).nullish(),
  staff: z.object({ edges: list(z.object({ role: text(), node: z.object({ id: z.int(), name: Name }) })) }).nullish(),
  characters: z
    .object({
      edges: list(
        z.object({
          node: z.object({ name: Name }),
          voiceActors: list(z.object({ id: z.int(), name: Name })),
        }),
      ),
    })
    .nullish(),
});
type Media = z.output<typeof Media>;
const One = z.object({ data: z.object({ Media: Media.nullable() }) });
const Many = z.object({ data: z.object({ Page: z.object({ media: list(Media) }) }) });

const SHORT = `id idMal type format status title { romaji english native } synonyms startDate { year month day }
  episodes volumes duration description(asHtml: false) coverImage { extraLarge large medium }`;
const SEARCH = `query ($search: String, $type: MediaType, $count: Int) {
  Page(perPage: $count) { media(search: $search, type: $type, sort: SEARCH_MATCH) { ${SHORT} } } }`;
const DETAILS = `query ($id: Int, $type: MediaType) { Media(id: $id, type: $type) { ${SHORT}
  averageScore countryOfOrigin isAdult genres tags { name isMediaSpoiler } bannerImage
  studios { nodes { name isAnimationStudio } } staff(perPage: 25) { edges { role node { id name { full } } } }
  characters(perPage: 25, sort: ROLE) { edges { node { name { full } } voiceActors(language: JAPANESE) { id name { full } } } } } }`;

const typeOf = (type: string): 'ANIME' | 'MANGA' => (['comic', 'comic-series'].includes(type) ? 'MANGA' : 'ANIME');

/** Texts are in English or the original language. */
const titleOf = ({ title }: Media): string => title.english ?? title.romaji ?? title.native ?? '';

function dayOf(date: FuzzyDate): string | undefined {
  if (!date?.year || !date.month || !date.day) return undefined;
  const two = (part: number): string => String(part).padStart(2, '0');
  return calendarDay(`${String(date.year).padStart(4, '0')}-${two(date.month)}-${two(date.day)}`);
}

async function identify(query: Query, wanted: Wanted): Promise<Found[]> {
  const id = idOf(wanted.ids, 'anilist', NUMBER);
  const own = id ? await mediaOf(query, wanted.type, id) : undefined;
  if (own) return [foundOf(wanted.type, own)];
  const answer = await query({
    path: '/',
    method: 'POST',
    body: {
      query: SEARCH,
      variables: { search: wanted.title.slice(0, 200), type: typeOf(wanted.type), count: MOST_FOUND },
    },
    schema: Many,
  });
  const films = answer?.data.Page.media ?? [];
  return films
    .filter(({ format }) => typeOf(wanted.type) === 'MANGA' || (format === 'MOVIE') === (wanted.type === 'movie'))
    .map((media) => foundOf(wanted.type, media));
}

async function mediaOf(query: Query, type: string, id: string): Promise<Media | undefined> {
  const answer = await query({
    path: '/',
    method: 'POST',
    body: { query: DETAILS, variables: { id: Number(id), type: typeOf(type) } },
    schema: One,
  });
  return answer?.data.Media ?? undefined;
}

const foundOf = (type: string, media: Media): Found =>
  known<Found>({
    ids: idsOf(media),
    type,
    title: titleOf(media),
    aliases: names([media.title.romaji, media.title.native, ...media.synonyms]),
    originalTitle: media.title.native,
    year: media.startDate?.year,
    releasedOn: dayOf(media.startDate),
    overview: plain(media.description),
    poster: media.coverImage?.medium ?? media.coverImage?.large,
    runtimeMs: type === 'movie' && media.duration ? media.duration * 60_000 : undefined,
    childCounts: media.episodes && type === 'show' ? { episodes: media.episodes } : undefined,
  });

const idsOf = ({ id, idMal }: Media) =>
  known<Record<string, string>>({ anilist: String(id), mal: idMal ? String(idMal) : undefined });

async function describe(query: Query, { type, ids }: Identity): Promise<Description | undefined> {
  const id = idOf(ids, 'anilist', NUMBER);
  if (!id || ['season', 'episode', 'comic'].includes(type)) return undefined;
  const media = await mediaOf(query, type, id);
  return media && { values: valuesOf(media), pictures: picturesOf(media) };
}

const STATUS: Readonly<Record<string, ItemValues['status']>> = {
  FINISHED: 'ended',
  CANCELLED: 'ended',
  RELEASING: 'continuing',
  HIATUS: 'continuing',
  NOT_YET_RELEASED: 'upcoming',
};

const valuesOf = (media: Media): ItemValues =>
  known<ItemValues>({
    title: titleOf(media),
    originalTitle: media.title.native,
    overview: plain(media.description),
    year: media.startDate?.year,
    releasedOn: dayOf(media.startDate),
    rating: media.averageScore ? media.averageScore / 10 : undefined,
    status: STATUS[media.status ?? ''],
    genres: names(media.genres),
    tags: names(
      media.tags.filter((tag) => !tag.isMediaSpoiler).map(({ name }) => name),
      TAGS,
    ),
    studios: names((media.studios?.nodes ?? []).filter((one) => one.isAnimationStudio).map(({ name }) => name)),
    countries: names([media.countryOfOrigin]).filter((code) => /^[A-Z]{2}$/.test(code)),
    readingDirection: media.type === 'MANGA' && media.countryOfOrigin === 'JP' ? 'rtl' : undefined,
    people: credits([...voices(media), ...staff(media)]),
    externalIds: idsOf(media),
  });

const person = (role: string, one: { id: number; name?: { full: string | undefined } | null | undefined }) => ({
  role,
  name: one.name?.full ?? '',
  ids: { anilist: String(one.id) },
});

const voices = ({ characters }: Media): NamedCredit[] =>
  (characters?.edges ?? []).flatMap(({ node, voiceActors }) =>
    voiceActors.map((actor) => ({ ...person('voice', actor), ...(node.name?.full && { character: node.name.full }) })),
  );

const staff = ({ staff: all, type }: Media): NamedCredit[] =>
  (all?.edges ?? []).flatMap(({ role, node }) => {
    const found = roleOf(role ?? '');
    const fitting = type === 'MANGA' && found === 'other' && /\bart\b/i.test(role ?? '') ? 'artist' : found;
    return fitting === 'other' ? [] : [{ ...person(fitting, node), ...(role && { job: role }) }];
  });

function picturesOf({ coverImage, bannerImage }: Media): RemotePicture[] {
  const cover = coverImage?.extraLarge ?? coverImage?.large;
  const pictures: RemotePicture[] = [];
  if (cover) pictures.push(known<RemotePicture>({ kind: 'poster', url: cover, previewUrl: coverImage?.medium }));
  if (bannerImage) pictures.push({ kind: 'banner', url: bannerImage });
  return pictures;
}

const Fault = z.object({ errors: z.array(z.object({ status: z.number().optional() })).min(1) });

export const anilist: Agent = {
  id: 'anilist',
  name: 'AniList',
  homepage: 'https://anilist.co/',
  provider: 'anilist',
  itemTypes: ['movie', 'show', 'comic-series'],
  offers: ['identify', 'metadata', 'artwork', 'people', 'ratings'],
  address: 'https://graphql.anilist.co',
  rate: { everyMs: 2000, burst: 5 },
  judge: ({ status, body }) => {
    const fault = Fault.safeParse(body).data?.errors[0];
    if (!fault || status === 429) return undefined;
    return fault.status === 404 ? 'none' : 'failed';
  },
  ping: {
    path: '/',
    method: 'POST',
    body: { query: 'query { Media(id: 1) { id } }' },
    schema: z.object({ data: z.unknown() }),
  },
  identify,
  describe,
  artwork: async (query, identity) => (await describe(query, identity))?.pictures ?? [],
};
