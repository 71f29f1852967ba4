// Plugins of a MediaServer: allowed and installed ones, and trusted keys.
import { z } from 'zod';
import { imageName, ref, url } from './core.ts';
import { exactlyOne, listMap, setOf } from './structural.ts';

const DIGEST = /^[^@\s]+@sha256:[0-9a-f]{64}$/;

const PluginPackage = z.strictObject({
  url: url().describe('URL of the package.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Its SHA-256.'),
});
const pluginId = () => z.string().min(1).max(100).describe('Id of the plugin.');

export const Plugins = z.strictObject({
  allowed: listMap(
    'id',
    exactlyOne(
      z.strictObject({
        id: pluginId(),
        image: imageName().regex(DIGEST).optional().describe('An image with its digest; a moving tag is refused.'),
        package: PluginPackage.optional().describe('A package with its digest.'),
      }),
      ['image', 'package'],
    ),
    100,
  )
    .default([])
    .describe('Plugins that may be installed without a trusted signature.'),
  install: listMap(
    'id',
    exactlyOne(
      z.strictObject({
        id: pluginId(),
        image: imageName().regex(DIGEST).optional().describe('An image with its digest.'),
        serviceUrl: url().optional().describe('An existing service.'),
        secretRef: ref('Secret').optional().describe('Its settings that are secret.'),
        enabled: z.boolean().default(true).describe('Whether it runs.'),
      }),
      ['image', 'serviceUrl'],
    ),
    100,
  )
    .default([])
    .describe('Plugins declared here; read-only through the API but for `enabled`.'),
  trustedKeys: setOf(z.string().min(1).max(500), 20).default([]).describe('Keys whose signatures are trusted.'),
});
