import type { Call } from '#kernel/endpoint.ts';
import type { PersonDraft } from './people.schemas.ts';
import { insertPerson } from './people.store.ts';

/** Returns the id. Throws 409 `duplicate-external-id`. */
export async function createPersonFrom({ db }: Call, draft: PersonDraft): Promise<string> {
  const { sortName, externalIds, ...columns } = draft;
  return insertPerson(db, { ...columns, sort_name: sortName, external_ids: known(externalIds ?? {}) });
}

/** Without absent members. */
const known = (ids: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).filter((entry): entry is [string, string] => entry[1] !== undefined));
