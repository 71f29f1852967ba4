import { z } from 'zod';
import { ApiError } from '#kernel/errors.ts';
import type { Role } from './permissions.ts';
import type { Principal } from './principal.ts';

/** Restrictions of an account in addition to permissions; every area uses these names. */
export const restrictions = [
  'watchTogether',
  'roomChat',
  'discover',
  'homeLayout',
  'shareNotes',
  'publicReviews',
  'friends',
  'cast',
  'liveTv',
  'record',
  'subtitleTools',
  'personalStorage',
  'quickConnect',
] as const;
export type Restriction = (typeof restrictions)[number];

export type Restrictions = Record<Restriction, 'allow' | 'deny'>;

const Choice = z.enum(['allow', 'deny']);
const shape = Object.fromEntries(restrictions.map((name) => [name, Choice])) as Record<Restriction, typeof Choice>;
export const AccountRestrictions = z.object(shape).meta({ id: 'AccountRestrictions' });

const denied: Partial<Record<Role, readonly Restriction[]>> = {
  child: ['roomChat', 'discover', 'publicReviews', 'record', 'personalStorage', 'shareNotes', 'subtitleTools'],
  guest: [
    'watchTogether',
    'discover',
    'homeLayout',
    'shareNotes',
    'publicReviews',
    'friends',
    'record',
    'subtitleTools',
    'personalStorage',
  ],
};

/** Restrictions of the role, overridden by those of the account. */
export function effectiveRestrictions(role: Role, own: Partial<Restrictions>): Restrictions {
  const all = restrictions.map((name) => [name, own[name] ?? (denied[role]?.includes(name) ? 'deny' : 'allow')]);
  return Object.fromEntries(all) as Restrictions;
}

/** 403 with the name of the restriction when the account is denied it. */
export function requireAllowed(who: Principal, restriction: Restriction): void {
  if (who.restrictions[restriction] !== 'deny') return;
  throw new ApiError('FORBIDDEN', 'This account may not use that', { restriction });
}
