// Facts of an earlier surface that a later one lacks; v1 only adds.
import type { Facts } from './surface.ts';

/** A message for each removed fact and each new requirement. */
export function lost(before: readonly Facts[], after: readonly Facts[]): string[] {
  const now = new Map(after.map((facts) => [facts.name, facts]));
  return before.flatMap((known) => {
    const { name } = known;
    const facts = now.get(name);
    if (!facts) return [`${name} is gone`];
    return [...gone(known, facts), ...demanded(known, facts), ...tighter(known, facts)].map(
      (what) => `${name}: ${what}`,
    );
  });
}

function gone(before: Facts, { keeps }: Facts): string[] {
  const kept = new Set(keeps);
  const missing = before.keeps.filter((fact) => !kept.has(fact) && !kept.has(opened(fact)));
  return missing.map((fact) => `no more "${fact}"`);
}

/** The fact that includes this one: any text instead of listed values. */
const opened = (fact: string): string => fact.replace(/^(> \S*) (?:takes ".*|is one of)$/, '$1 is string');

function demanded(before: Facts, { demands }: Facts): string[] {
  const known = new Set(before.demands.map(String));
  const fresh = demands.filter((demand) => !known.has(String(demand)));
  return fresh
    .filter(([place, what]) => wasThere(before, place, what))
    .map(([place, what]) => `${place} has to be ${what}`);
}

/** A requirement inside a new object affects no existing client; parameters belong to existing operations. */
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
