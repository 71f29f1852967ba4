import { isIP } from 'node:net';
import { z } from 'zod';
import { mailbox } from '../mailbox.ts';

/** P public, S secret, O written by the owner only, N never in a resource. */
export type Mark = 'P' | 'S' | 'O' | 'N';

/** One row of the table of settings. */
export interface Definition<S extends z.ZodType = z.ZodType> {
  /** Without a default, which is a member of its own. */
  schema: S;
  /** The area that reads it; its title and description are texts of the languages. */
  area: string;
  marks: readonly Mark[];
}

export const setting = <S extends z.ZodType>(schema: S, area: string, ...marks: Mark[]): Definition<S> => ({
  schema,
  area,
  marks,
});

export const bool = (on: boolean) => z.boolean().default(on);
export const int = (min: number, max: number, value: number) => z.int().min(min).max(max).default(value);
export const maybeInt = (min: number, max: number) => z.int().min(min).max(max).nullable().default(null);
export const bytes = (value: number) => z.int().min(0).default(value).meta({ unit: 'bytes' });
export const maybeBytes = () => z.int().min(0).nullable().default(null).meta({ unit: 'bytes' });
export const maybeText = (max: number) => z.string().trim().min(1).max(max).nullable().default(null);
/** An empty text means none, as in a cleared form field. */
export const emptiable = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .transform((text) => text || null)
    .nullable()
    .default(null);
/** Stored as written, including blanks around it; an empty text means none. */
export const maybeSecret = (max: number) =>
  z
    .string()
    .max(max)
    .transform((text) => text || null)
    .nullable()
    .default(null);
export const maybeMailbox = () =>
  z
    .string()
    .trim()
    .max(320)
    .refine((text) => mailbox(text) !== undefined, { error: 'not an address', params: { code: 'invalid_email' } })
    .nullable()
    .default(null);
export const strings = (count: number, ...value: string[]) =>
  z.array(z.string().trim().min(1).max(253)).max(count).default(value);

const CIDR = /^([0-9.]{7,15}\/([0-9]|[12][0-9]|3[0-2])|[0-9a-fA-F:]{2,39}\/([0-9]{1,2}|1[01][0-9]|12[0-8]))$/;
const isNetwork = (text: string): boolean => isIP(text.split('/')[0] ?? '') !== 0;
export const networks = (...value: string[]) =>
  z
    .array(
      z
        .string()
        .regex(CIDR)
        .refine(isNetwork, { error: 'not a network', params: { code: 'invalid_network' } }),
    )
    .max(50)
    .default(value);

const isAddress = (schemes: readonly string[]) => (text: string) =>
  URL.canParse(text) && schemes.includes(new URL(text).protocol) && new URL(text).username === '';
export const address = (schemes: readonly string[] = ['https:']) =>
  z
    .string()
    .max(2048)
    .refine(isAddress(schemes), { error: 'not such an address', params: { code: 'invalid_url' } });
const isOrigin = (text: string): boolean => isAddress(['http:', 'https:'])(text) && new URL(text).origin === text;
/** As browsers write origins: scheme, host and port only. */
export const origins = (count: number) =>
  z
    .array(
      z
        .string()
        .max(253)
        .refine(isOrigin, { error: 'not an origin', params: { code: 'invalid_origin' } }),
    )
    .max(count)
    .default([]);
export const maybeAddress = (schemes?: readonly string[]) => address(schemes).nullable().default(null);

export const zone = () =>
  z
    .string()
    .max(64)
    .refine(isZone, { error: 'not a time zone', params: { code: 'invalid_time_zone' } });

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const language = () =>
  z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/)
    .max(35);
export const country = () => z.string().regex(/^[A-Z]{2}$/);

export const GIB = 2 ** 30;
export const HOME = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
