// What a person does with people: marks, fields, portraits, merges. Each change makes every answer that shows them old.
import type { PersonDetail, RequestOf } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

async function changed<T>(work: Promise<T>): Promise<T> {
  const answer = await work;
  for (const name of ['getPerson', 'listPeople', 'listPersonItems', 'getItem', 'listItemPeople'] as const)
    void invalidate(name);
  return answer;
}

export const setFavorite = (id: string, mark: { favorite: boolean; notify: boolean }): Promise<unknown> =>
  changed(api.setPersonFavorite({ params: { id }, body: mark }));

/** The fields of the form as texts. */
export interface Form {
  name: string;
  sortName: string;
  birthday: string;
  deathday: string;
  birthplace: string;
  homepage: string;
  biography: string;
  aliases: string;
}

export const formOf = (person: PersonDetail): Form => ({
  ...{ name: person.name, sortName: person.sortName === person.name ? '' : person.sortName },
  ...{ birthday: person.birthday ?? '', deathday: person.deathday ?? '', birthplace: person.birthplace ?? '' },
  ...{ homepage: person.homepage ?? '', biography: person.biography ?? '', aliases: person.aliases.join('\n') },
});

type Change = NonNullable<RequestOf<'updatePerson'>['body']>;

/** The fields that differ; an empty one is cleared. */
export function changeOf(before: Form, after: Form): Change {
  const differs = (Object.keys(after) as (keyof Form)[]).filter(
    (field) => after[field].trim() !== before[field].trim(),
  );
  const entries = differs.map((field) => {
    const text = after[field].trim();
    if (field === 'aliases')
      return [
        field,
        text
          ? text
              .split('\n')
              .map((line) => line.trim())
              .filter(Boolean)
          : null,
      ];
    return [field, text || null];
  });
  return Object.fromEntries(entries) as Change;
}

export const save = (id: string, body: Change): Promise<unknown> => changed(api.updatePerson({ params: { id }, body }));

export const merge = (id: string, other: string): Promise<unknown> =>
  changed(api.mergePeople({ params: { id }, body: { personIds: [other] } }));

export const refresh = (id: string): Promise<unknown> => changed(api.refreshPerson({ params: { id }, body: {} }));

export function uploadPortrait(id: string, file: File): Promise<unknown> {
  const body = new FormData();
  body.append('file', file);
  body.append('select', 'true');
  return changed(api.uploadPersonPortrait({ params: { id }, body }));
}
