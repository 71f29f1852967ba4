import { z } from 'zod';
import { RelativePath } from '#kernel/schemas.ts';

const NO_CONTROL = /^[^\p{Cc}]*$/u;
const line = (max: number) => z.string().max(max).regex(NO_CONTROL);

/** An http(s) address without credentials, query and fragment, so that settings contain no secret. */
const Address = z
  .string()
  .max(2000)
  .regex(NO_CONTROL)
  .refine(isPlain, {
    error: 'an http or https address without credentials and query',
    params: { code: 'bad_address' },
  });

function isPlain(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash, pathname } = new URL(text);
  if (!isDecodable(pathname)) return false;
  return /^https?:$/.test(protocol) && username === '' && password === '' && search === '' && hash === '';
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A name or an address, without a port. */
const Host = z
  .string()
  .min(1)
  .max(253)
  .refine(
    (text) => !/[\s/@?#\\%[\]]/.test(text) && URL.canParse(`http://${text.includes(':') ? `[${text}]` : text}/`),
    {
      error: 'the name or the address of a machine',
      params: { code: 'bad_host' },
    },
  );

const AbsolutePath = z
  .string()
  .max(4096)
  .refine((path) => path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..'), {
    error: 'an absolute path without ..',
    params: { code: 'bad_path' },
  });

export const MountSettings = z.strictObject({
  root: line(63).min(1).meta({ title: 'Media root' }),
  path: RelativePath.default('').meta({ title: 'Folder' }),
});

export const S3Settings = z.strictObject({
  endpoint: Address.meta({ title: 'Address' }),
  region: line(60).min(1).default('us-east-1').meta({ title: 'Region' }),
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/)
    .meta({ title: 'Bucket' }),
  prefix: RelativePath.default('').meta({ title: 'Folder in the bucket' }),
  pathStyle: z.boolean().default(true).meta({ title: 'Bucket in the path of the address' }),
  accessKeyId: line(200).min(1).meta({ title: 'Access key' }),
});

export const WebdavSettings = z.strictObject({
  url: Address.meta({ title: 'Address' }),
  username: line(200).optional().meta({ title: 'User name' }),
  insecureTls: z.boolean().default(false).meta({ title: 'Accept any certificate' }),
});

export const SftpSettings = z.strictObject({
  host: Host.meta({ title: 'Host' }),
  port: z.int().min(1).max(65_535).default(22).meta({ title: 'Port' }),
  username: line(200).min(1).meta({ title: 'User name' }),
  path: AbsolutePath.default('/').meta({ title: 'Folder on the host' }),
  hostKeySha256: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=?$/)
    .optional()
    .meta({ title: 'Host key', description: 'SHA-256 in base64, as ssh-keygen -l prints it after SHA256:' }),
});

export type MountSettings = z.output<typeof MountSettings>;
export type S3Settings = z.output<typeof S3Settings>;
export type WebdavSettings = z.output<typeof WebdavSettings>;
export type SftpSettings = z.output<typeof SftpSettings>;
