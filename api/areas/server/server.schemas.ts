import { z } from 'zod';
import { Language, Timestamp } from '#kernel/schemas.ts';

export const ServerInfo = z
  .object({
    id: z.uuid().describe('Made once, survives a restore'),
    name: z.string(),
    product: z.literal('Foyer'),
    apiVersion: z.literal('v1'),
    version: z.string().describe('major.minor; the full one when a valid credential comes along'),
    setupComplete: z.boolean().optional().describe('Absent while it is not known'),
    managed: z.boolean().describe('By a Kubernetes resource'),
    publicUrl: z.string().nullable(),
    languages: z.array(Language),
    language: Language,
    timeZone: z.string().describe('IANA'),
    time: Timestamp,
    links: z.object({ docs: z.string(), openapi: z.string(), app: z.string() }),
    minClient: z.record(z.string(), z.string()).optional().describe('Client name to lowest version that works'),
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
    checks: z.array(z.object({ name: z.string(), ok: z.boolean() })).optional(),
  })
  .meta({ id: 'Probe' });
