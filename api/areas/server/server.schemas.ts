import { z } from 'zod';
import { Language, Timestamp } from '#kernel/schemas.ts';

export const ServerInfo = z
  .object({
    id: z.uuid().describe('Created once; survives a restore'),
    name: z.string().meta({ example: 'Home' }),
    product: z.literal('Foyer'),
    apiVersion: z.literal('v1'),
    version: z
      .string()
      .describe('major.minor, or the full version for callers with a valid credential')
      .meta({ example: '0.1.0' }),
    setupComplete: z.boolean().optional().describe('Absent while unknown'),
    managed: z.boolean().describe('By a Kubernetes resource'),
    publicUrl: z.string().nullable().meta({ example: 'https://media.example' }),
    languages: z.array(Language).meta({ example: ['en'] }),
    language: Language.meta({ example: 'en' }),
    timeZone: z.string().describe('IANA').meta({ example: 'Europe/London' }),
    time: Timestamp,
    links: z.object({
      docs: z.string().meta({ example: '/api/v1/docs' }),
      openapi: z.string().meta({ example: '/api/v1/openapi.json' }),
      app: z.string().meta({ example: '/' }),
    }),
    minClient: z.record(z.string(), z.string()).optional().describe('Lowest supported version by client name'),
    branding: z.object({ revision: z.int() }),
    notice: z.string().nullable(),
  })
  .meta({ id: 'ServerInfo' });

export const ServerHealth = z
  .object({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    checks: z.array(
      z.object({
        name: z.enum(['database', 'redis', 'objects', 'queue', 'transcode', 'subtitles', 'storage', 'mail', 'keys']),
        state: z.enum(['ok', 'degraded', 'down', 'off']),
      }),
    ),
    time: Timestamp,
  })
  .meta({ id: 'ServerHealth' });
export type ServerHealth = z.output<typeof ServerHealth>;

export const Probe = z
  .object({
    status: z.enum(['ok', 'starting', 'draining', 'down']),
    checks: z.array(z.object({ name: z.string().meta({ example: 'Films' }), ok: z.boolean() })).optional(),
  })
  .meta({ id: 'Probe' });
