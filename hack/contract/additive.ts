// What a client of an earlier surface would miss in a later one; v1 only adds.
import type { Facts } from './surface.ts';

/** Each thing that is taken away or asked for anew, in words. */
export function lost(before: readonly Facts[], after: readonly Facts[]): string[] {
  const now = new Map(after.map((facts) => [facts.name, facts]));
  return before.flatMap((known) => {
    const { name } = known;
    const facts = now.get(name);
    if (!facts) return [`${name} is gone`];
    return [...gone(known, facts), ...asked(known, facts), ...tighter(known, facts)].map((what) => `${name}: ${what}`);
  });
}

function gone(before: Facts, { keeps }: Facts): string[] {
  const kept = new Set(keeps);
  const missing = before.keeps.filter((fact) => !kept.has(fact) && !kept.has(opened(fact)));
  return missing.map((fact) => `no more "${fact}"`);
}

/** What says all that the fact did: any text where there were values. */
const opened = (fact: string): string => fact.replace(/^(> \S*) (?:takes ".*|is one of)$/, '$1 is string');

function asked(before: Facts, { demands }: Facts): string[] {
  const known = new Set(before.demands.map(String));
  const fresh = demands.filter((demand) => !known.has(String(demand)));
  return fresh
    .filter(([place, what]) => wasThere(before, place, what))
    .map(([place, what]) => `${place} has to be ${what}`);
}

/** What is new in a new object asks nothing of those who do not know it; parameters belong to what was there. */
function wasThere({ keeps }: Facts, place: string, what: string): boolean {
  const about = what === 'required' ? place.replace(/\.[^.]*$/, '') : place;
  return (
    ['> query', '> path'].includes(about) || place === '> body' || keeps.some((fact) => fact.startsWith(`${about} is `))
  );
}

function tighter(before: Facts, { bounds }: Facts): string[] {
  return Object.entries(bounds).flatMap(([bound, value]) => {
    const [, place = '', end = ''] = /^(.*) (most|least)$/.exec(bound) ?? [];
    if (!wasThere(before, place, 'bounded')) return [];
    const open = end === 'most' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const was = before.bounds[bound] ?? open;
    return (end === 'most' ? value < was : value > was) ? [`${place} is at ${end} ${value}`] : [];
  });
}
