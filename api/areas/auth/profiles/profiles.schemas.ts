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
  name: Name.meta({ example: 'Ada' }),
  color: z.enum(colors).optional(),
  language: Language.optional().meta({ example: 'en' }),
  timeZone: TimeZone.optional().meta({ example: 'Europe/London' }),
  country: Country.optional().meta({ example: 'GB' }),
  pin: Pin.optional()
    .describe('Keeps other people of the household out of the profile; it is no sign-in method')
    .meta({ example: '4711' }),
  private: z.boolean().default(false),
  keepHistory: z.boolean().default(true),
  limits: Limits.optional().describe("Never wider than the account's, which count too"),
});
export type ProfileDraft = z.output<typeof ProfileDraft>;

export const ProfileChange = z.strictObject({
  name: Name.optional().meta({ example: 'Ada' }),
  color: z.enum(colors).optional(),
  language: Language.nullable().optional().meta({ example: 'en' }),
  timeZone: TimeZone.nullable().optional().meta({ example: 'Europe/London' }),
  country: Country.nullable().optional().meta({ example: 'GB' }),
  pin: Pin.nullable().optional().describe('null removes it').meta({ example: '4711' }),
  private: z.boolean().optional(),
  keepHistory: z.boolean().optional(),
  limits: Limits.nullable().optional().describe('null removes them'),
  avatar: z.null().optional().describe('null removes it'),
});
export type ProfileChange = z.output<typeof ProfileChange>;

export const SelectProfile = z.strictObject({ pin: Pin.optional().meta({ example: '4711' }) });
export const ProfileParams = z.object({ id: Id });
export { Profile };
