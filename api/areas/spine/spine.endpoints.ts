import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { MAX_PACK_BYTES } from '#platform/spine/manifest.ts';
import { PIECE_BYTES, pieceKey } from '#platform/spine/source.ts';
import { importPack } from './import-pack.ts';
import { lookup } from './lookup.view.ts';
import { ImportedPack, LookupQuery, PackImport, SpineStatus, SpineWork } from './spine.schemas.ts';
import { readStatus } from './status.view.ts';

const LOOKUPS_A_MINUTE = 60;

export const getSpine = defineEndpoint({
  operationId: 'getSpine',
  method: 'get',
  path: '/spine',
  summary: 'Get the loaded identity packs',
  description:
    'Packs with their sources and licences. With `library:manage` also coverage, a running import, a newer pack, the address of packs and the trusted keys. Coverage is at most an hour old and covers libraries that the caller sees.',
  access: { permission: 'library:view' },
  answer: json(200, SpineStatus),

  async handle(_input, call) {
    return readStatus(call);
  },
});

export const importSpinePack = defineEndpoint({
  operationId: 'importSpinePack',
  method: 'post',
  path: '/spine/packs',
  summary: 'Load or remove an identity pack',
  description:
    'Exactly one of `url`, `storageId` with `path`, `current`, `remove`, and `file` of a form. The head of the pack and its signature are checked before the answer; blocks are checked as they are loaded. Lookups use the pack once it is loaded as a whole. An address must serve ranges. With `dryRun` the answer is 200 and nothing changes.',
  access: { permission: 'settings:manage' },
  body: PackImport,
  files: {
    file: {
      media: ['application/octet-stream'],
      maxBytes: MAX_PACK_BYTES,
      stored: { bucket: 'foyer-spine', pieceBytes: PIECE_BYTES, keyOf: pieceKey },
    },
  },
  answer: json(202, ImportedPack),
  also: [200],
  errors: ['NOT_FOUND', 'CONFLICT', 'STORAGE_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],

  async handle({ body }, call) {
    return importPack(call, body);
  },
});

export const lookupSpine = defineEndpoint({
  operationId: 'lookupSpine',
  method: 'get',
  path: '/spine/lookup',
  summary: 'Look a work up in the identity packs',
  description:
    'By an id, a title or the work that contains it, best first. A year off by one still counts, and so do aliases. Children, guests and accounts with limits get only works that an item visible to them has. Without a pack 409 `no-pack`. Nothing is sent to another server.',
  access: { permission: 'library:view' },
  query: LookupQuery,
  answer: page(SpineWork),
  errors: ['CONFLICT', 'RATE_LIMITED'],

  async handle({ query }, call) {
    const { redis, config } = call.deps;
    await limitAttempts({ redis, replicas: config.replicas }, `spine:${call.who.accountId}`, LOOKUPS_A_MINUTE);
    return lookup(call, query);
  },
});
