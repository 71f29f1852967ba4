import { calendarDay } from '../../calendar.ts';
import type { DescribedPerson, Identity, Query } from '../agent.ts';
import { idOf, known, NUMBER, names } from '../parts.ts';
import { Person } from './schemas.ts';

const MOST_ALIASES = 20;
/** Longer texts are cut by the one who stores them. */
const MOST_TEXT = 20_000;
const IMDB_PERSON = /^nm\d{5,10}$/;

/** A person of TMDB. Biographies that are not translated are in English. */
export async function personOf(
  query: Query,
  { ids, language }: Pick<Identity, 'ids' | 'language'>,
  pictureBase: () => Promise<string>,
): Promise<DescribedPerson | undefined> {
  const id = idOf(ids, 'tmdb', NUMBER);
  if (!id) return undefined;
  const inLanguage = (code: string) =>
    query({
      path: `/3/person/${id}`,
      query: { language: code, append_to_response: 'external_ids' },
      schema: Person,
    });
  const person = await inLanguage(language);
  if (!person) return undefined;
  const isTranslated = person.biography !== undefined || language.startsWith('en');
  const biography = isTranslated ? person.biography : (await inLanguage('en'))?.biography;
  return described(person, biography, person.profile_path && `${await pictureBase()}original${person.profile_path}`);
}

function described(person: Person, biography: string | undefined, portrait: string | undefined): DescribedPerson {
  const { external_ids: ids, homepage } = person;
  const imdb = person.imdb_id ?? ids?.imdb_id;
  return known<DescribedPerson>({
    aliases: names(person.also_known_as, MOST_ALIASES),
    birthday: calendarDay(person.birthday),
    deathday: calendarDay(person.deathday),
    birthplace: person.place_of_birth?.slice(0, 200),
    biography: biography?.slice(0, MOST_TEXT),
    homepage: homepage && /^https?:\/\//.test(homepage) ? homepage.slice(0, 500) : undefined,
    externalIds: known<Record<string, string>>({
      tmdb: String(person.id),
      imdb: imdb !== undefined && IMDB_PERSON.test(imdb) ? imdb : undefined,
      wikidata: ids?.wikidata_id,
    }),
    portrait,
  });
}
