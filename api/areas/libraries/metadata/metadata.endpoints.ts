import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { defaultsOf, describes, listAgents } from './agents.ts';
import { checkKeys, listKeys, saveKeys } from './keys.ts';
import {
  AgentsQuery,
  CatalogueKeys,
  KeysQuery,
  MetadataAgents,
  NewCatalogueKeys,
  SavedCatalogueKeys,
} from './metadata.schemas.ts';

export const listMetadataAgents = defineEndpoint({
  operationId: 'listMetadataAgents',
  method: 'get',
  path: '/metadata/agents',
  summary: 'List the metadata agents a library can order',
  description:
    'Returns every built-in agent with the item types that it describes and whether it answers, as the check of every 5 minutes found. An agent that waits for a key lists its keys with their environment variables. Unavailable agents are skipped at a refresh.',
  access: { permission: 'library:manage' },
  query: AgentsQuery,
  answer: json(200, MetadataAgents),

  async handle({ query: { libraryType } }, call) {
    const all = await listAgents(call);
    const items = all.filter((agent) => libraryType === undefined || describes(agent, libraryType));
    return { items, defaults: defaultsOf(all) };
  },
});

export const listCatalogueKeys = defineEndpoint({
  operationId: 'listCatalogueKeys',
  method: 'get',
  path: '/metadata/keys',
  summary: 'List the keys of catalogues and their sources',
  description:
    'A key comes from the MediaServer resource, else it is the one saved in the app, else that of the environment. Secrets are never returned.',
  access: { permission: 'settings:manage' },
  answer: json(200, CatalogueKeys),

  async handle(_input, call) {
    return { items: await listKeys(call) };
  },
});

export const setCatalogueKeys = defineEndpoint({
  operationId: 'setCatalogueKeys',
  method: 'put',
  path: '/metadata/keys',
  summary: 'Save or remove keys of catalogues',
  description:
    'Keys are in force at once, in workers too; keys that are not named stay as they are. An unknown name or an empty text is 400 and nothing is saved. A key that a MediaServer resource provides is 409 `managed-by-resource`. With `check` each agent is queried once, and the keys are saved whatever it answers.',
  access: { permission: 'settings:manage' },
  query: KeysQuery,
  body: NewCatalogueKeys,
  answer: json(200, SavedCatalogueKeys),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],
  transaction: 'manual',

  async handle({ body, query }, call) {
    const names = await call.transact((inside) => saveKeys(inside, body));
    const checks = query.check ? await checkKeys(call, names) : undefined;
    return { items: await listKeys(call), ...(checks && { checks }) };
  },
});
