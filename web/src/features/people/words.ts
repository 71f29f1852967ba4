// Names of roles, and the words for the days of a life.
import type { Person, PersonCredit, PersonDetail, PersonRole } from 'foyer-client';
import { dateText } from '#features/item/words.ts';
import * as m from '#messages/people.ts';

export const ROLES: Readonly<Record<PersonRole, () => string>> = {
  ...{ actor: m.actor, voice: m.voice, guest: m.guest, self: m.self, presenter: m.presenter, director: m.director },
  ...{ writer: m.writer, creator: m.creator, producer: m.producer, composer: m.composer, editor: m.editor },
  ...{ cinematographer: m.cinematographer, author: m.author, narrator: m.narrator, illustrator: m.illustrator },
  ...{ translator: m.translator, artist: m.artist, conductor: m.conductor, performer: m.performer },
  ...{ lecturer: m.lecturer, other: m.other },
};

export const roleOf = (role: PersonRole): string => ROLES[role]();

/** What a person did in a title: a character, else the roles; then the number of episodes, then the year. */
export function creditLine({ roles, episodes, year }: PersonCredit): string {
  const parts = new Set(roles.map(({ character, role }) => character ?? roleOf(role)));
  return [[...parts].slice(0, 2).join(', '), episodes ? m.episodes({ count: episodes }) : '', year]
    .filter(Boolean)
    .join(' · ');
}

export const personLine = ({ knownFor, itemCount }: Person): string =>
  [knownFor ? roleOf(knownFor) : '', itemCount > 0 ? m.items({ count: itemCount }) : ''].filter(Boolean).join(' · ');

export function lifeOf({ birthday, birthplace, deathday }: PersonDetail): string[] {
  const date = birthday === undefined ? '' : dateText(birthday);
  const born = birthplace === undefined ? m.born({ date }) : m.bornIn({ date, place: birthplace });
  return [...(birthday ? [born] : []), ...(deathday ? [m.died({ date: dateText(deathday) })] : [])];
}

/** Stands for a portrait. */
export const initials = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => [...word][0] ?? '')
    .slice(0, 2)
    .join('')
    .toUpperCase();
