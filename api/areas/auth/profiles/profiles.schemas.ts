import { z } from 'zod';
import { Country, Id, Language } from '#kernel/schemas.ts';
import { Profile, ProfileLimits } from '../auth.schemas.ts';

export const colors = [
  'red',
  'orange',
  'amber',
  'yellow',
  'lime',
  'green',
  'teal',
  'cyan',
  'blue',
  'indigo',
  'purple',
  'pink',
] as const;

const known = (zone: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
};
const TimeZone = z
  .string()
  .max(64)
  .refine(known, { error: 'not a time zone', params: { code: 'bad_time_zone' } });
const Name = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .regex(/^[^\p{C}]+$/u);
const Pin = z.string().regex(/^\d{4,8}$/);
const Limits = z.strictObject(ProfileLimits.shape);

export const ProfileDraft = z.strictObject({
  name: Name,
  color: z.enum(colors).optional(),
  language: Language.optional(),
  timeZone: TimeZone.optional(),
  country: Country.optional(),
  pin: Pin.optional().describe('Keeps others of the household out of the profile; signs nobody in'),
  private: z.boolean().default(false),
  keepHistory: z.boolean().default(true),
  limits: Limits.optional().describe("Never wider than the account's, which count too"),
});
export type ProfileDraft = z.output<typeof ProfileDraft>;

export const ProfileChange = z.strictObject({
  name: Name.optional(),
  color: z.enum(colors).optional(),
  language: Language.nullable().optional(),
  timeZone: TimeZone.nullable().optional(),
  country: Country.nullable().optional(),
  pin: Pin.nullable().optional().describe('null removes it'),
  private: z.boolean().optional(),
  keepHistory: z.boolean().optional(),
  limits: Limits.nullable().optional().describe('null removes them'),
  avatar: z.null().optional().describe('null removes it'),
});
export type ProfileChange = z.output<typeof ProfileChange>;

export const SelectProfile = z.strictObject({ pin: Pin.optional() });
export const ProfileParams = z.object({ id: Id });
export { Profile };
