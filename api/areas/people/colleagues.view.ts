import { PersonRole } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Colleague } from './people.schemas.ts';
import { findPeople, onlyVisibleCredited, standsOn, visibleCredits } from './people.view.ts';

const MOST = 20;

interface Pair {
  id: string;
  together: number;
  items: string[];
}

/** Those with whom a person shares most visible items. */
export async function colleaguesOf(call: Pick<Call, 'db' | 'who'>, personId: string): Promise<Colleague[]> {
  const { db, who } = call;
  const pairs: Pair[] = await db
    .from('credited_items as ci')
    .join('credited_items as co', 'co.item_id', 'ci.item_id')
    .where({ 'ci.owner_id': personId, 'co.kind': 'person' })
    .whereNot('co.owner_id', personId)
    .modify((query) => onlyVisibleCredited(query, { db, who }, 'ci'))
    .modify((query) => onlyVisibleCredited(query, { db, who }, 'co'))
    .groupBy('co.owner_id')
    .orderByRaw('count(*) desc, co.owner_id')
    .limit(MOST)
    .select('co.owner_id as id', db.raw('count(*)::int as together'));
  const ids = pairs.map(({ id }) => id);
  const people = await findPeople(db, who, ids);
  const roles = await rolesTogether(call, personId, ids);
  return pairs.flatMap(({ id, together }) => {
    const person = people.get(id);
    return person ? [{ person, together, roles: roles.get(id) ?? [] }] : [];
  });
}

/** Roles of the others in items that credit the person too, the most frequent first. */
async function rolesTogether(
  { db, who }: Pick<Call, 'db' | 'who'>,
  personId: string,
  others: readonly string[],
): Promise<Map<string, Colleague['roles']>> {
  if (others.length === 0) return new Map();
  const shared = db
    .from('credited_items as ci')
    .where('ci.owner_id', personId)
    .modify((query) => onlyVisibleCredited(query, { db, who }))
    .select('ci.item_id');
  const rows: { person_id: string; role: string }[] = await visibleCredits(db, who)
    .whereRaw('c.person_id = any(?::uuid[])', [[...others]])
    .whereRaw(`${standsOn('v')} in (?)`, [shared as unknown as string])
    .groupBy('c.person_id', 'c.role')
    .orderByRaw('count(*) desc, c.role')
    .select('c.person_id', 'c.role');
  const known = rows.flatMap(({ person_id, role }) => {
    const parsed = PersonRole.safeParse(role).data;
    return parsed ? [{ id: person_id, role: parsed }] : [];
  });
  return new Map([...Map.groupBy(known, ({ id }) => id)].map(([id, list]) => [id, list.map(({ role }) => role)]));
}
