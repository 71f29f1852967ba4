import { kindOf, type NotificationKind } from '#areas/notifications/public.ts';

export const emailKinds = [
  'invitation',
  'password-reset',
  'password-set',
  'address-confirm',
  'sign-in-new-device',
  'methods-changed',
  'alert',
  'notification',
  'digest',
  'test',
] as const;
export type EmailKind = (typeof emailKinds)[number];

/** Kinds that a person can end from the mail. */
export const endable = ['notification', 'digest', 'alert'] as const;
export type Endable = (typeof endable)[number];
export const isEndable = (kind: EmailKind): kind is Endable => (endable as readonly string[]).includes(kind);

/** Kind of the mail for a notification. */
export function emailKindOf(kind: NotificationKind): EmailKind {
  if (kind === 'sign-in-new-device' || kind === 'methods-changed') return kind;
  return kindOf(kind).permission ? 'alert' : 'notification';
}

/** Share of `email.perHour` up to which mails of the kind are sent: digests are held back first. */
const SHARES: Partial<Record<EmailKind, number>> = {
  digest: 0.8,
  notification: 0.8,
  alert: 0.9,
  'sign-in-new-device': 0.9,
  'methods-changed': 0.9,
};

export const hourlyShare = (kind: EmailKind, perHour: number): number =>
  Math.max(1, Math.floor(perHour * (SHARES[kind] ?? 1)));

/** Priority of the job; a lower one runs sooner. */
export const priorityOf = (kind: EmailKind): number => (SHARES[kind] === undefined ? 5 : SHARES[kind] * 50);
