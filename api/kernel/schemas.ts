import { z } from 'zod';
import { Role } from '#identity/permissions.ts';
import { ManagedBy as ManagedBySchema } from '#platform/config.ts';

/** Leaf schemas that many areas share. Records stay in their area. */

export const Id = z.uuid().meta({ description: 'UUIDv7' });
export const IdParams = z.object({ id: Id });
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds' });

/** Whether Postgres can store it: years 1 to 9999 as written and in UTC, offsets below 16 hours. */
const isKnown = (text: string): boolean => {
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9999 && !/^0000|[+-](?:1[6-9]|2\d):?\d\d$/.test(text);
};
const known = { error: 'of the years 1 to 9999, in a time zone that there is', params: { code: 'unknown_moment' } };
/** Input of a time in any time zone. */
export const Moment = z.iso.datetime({ offset: true }).refine(isKnown, known);
export const Day = z.iso.date().refine(isKnown, known);
export const Milliseconds = z.int().min(0);
export const Bytes = z.int().min(0);
export const Language = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
  .max(35)
  .meta({ description: 'BCP 47' });
export const Country = z
  .string()
  .regex(/^[A-Z]{2}$/)
  .meta({ description: 'ISO 3166-1 alpha-2' });
export const ManagedBy = ManagedBySchema.meta({ id: 'ManagedBy', description: 'The Kubernetes resource that owns it' });

/** A path inside a storage: relative, no `..`, no NUL. */
export const RelativePath = z
  .string()
  .max(4096)
  .refine((path) => !path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..'), {
    error: 'a relative path without ..',
    params: { code: 'bad_path' },
  });

export const ImageRef = z
  .object({
    id: Id,
    kind: z.string().meta({ example: 'poster' }),
    width: z.int().meta({ example: 1440 }),
    height: z.int().meta({ example: 1080 }),
    blurhash: z.string().nullable().meta({ example: 'L6PZfSi_.AyE_3t7t7R**0o#DgR4' }),
    version: z.string().meta({ example: '1' }),
  })
  .meta({ id: 'ImageRef', description: 'Bytes: GET /images/{id}' });
export type ImageRef = z.output<typeof ImageRef>;

export const Account = z
  .object({
    id: Id,
    username: z.string().meta({ example: 'ada' }),
    displayName: z.string().meta({ example: 'Ada' }),
    role: Role,
    email: z.string().nullable().meta({ example: 'ada@media.example' }),
    avatar: ImageRef.nullable(),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.nullable(),
    disabled: z.boolean(),
  })
  .meta({ id: 'Account' });
export type Account = z.output<typeof Account>;

/** Booleans in query strings are text. */
export const queryBool = z.enum(['true', 'false']).transform((text) => text === 'true');
const asInteger =
  (minimum: number, maximum: number) =>
  ({ jsonSchema }: { jsonSchema: object }): void => {
    Object.assign(jsonSchema, { type: 'integer', minimum, maximum });
    delete (jsonSchema as { pattern?: string }).pattern;
  };
export const queryInt = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .meta({ override: asInteger(min, max) })
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** Schema of one element of a comma-separated list, for the description. */
function wordOf(item: z.ZodType): object {
  const { $schema: _dialect, ...whole } = z.toJSONSchema(item, { io: 'input', unrepresentable: 'any' });
  const [named = whole] = Object.values(whole.$defs ?? {});
  const { id: _name, pattern, ...schema } = named;
  return { ...schema, ...(pattern !== undefined && schema.format === undefined && { pattern }) };
}

/** `a,b,c`, each parsed by `item`; duplicates are removed. */
export const commaList = <S extends z.ZodType<unknown, string>>(item: S, max: number) =>
  z
    .string()
    .max(max * 80)
    .meta({ 'x-list': { items: wordOf(item), maxItems: max } })
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(item).min(1).max(max));

/** A time from Postgres as ISO text with milliseconds. */
export function iso(time: Date): string;
export function iso(time: Date | null): string | null;
export function iso(time: Date | null): string | null {
  return time ? time.toISOString() : null;
}
