import type { Principal } from '#identity/principal.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';

type Caller = Pick<Call, 'who' | 'deps'>;

/**
 * SQL of whether the caller may know that the profile `pr` of account `a` played something: the own profile, and for those
 * who manage sessions children and, by the setting, adults that are not private.
 */
export function knownPerson({ who, deps }: Caller): { sql: string; bindings: unknown[] } {
  const own = 'pr.id = ?::uuid';
  if (!may(who, 'session:manage')) return { sql: `(${own})`, bindings: [who.profileId] };
  const adults = deps.settings.get('stats.adminsSeeHistory') ? 'not pr.private' : 'false';
  return { sql: `(${own} or a.role = 'child' or ${adults})`, bindings: [who.profileId] };
}

/** The time zone of the days of a scope. */
export function zoneOf({ who, deps }: Caller, scope: 'mine' | 'server'): string {
  const server = deps.settings.get('server.timeZone');
  return scope === 'server' ? server : (profileZone(who) ?? server);
}

const profileZone = ({ timeZone }: Principal): string | undefined => timeZone;
