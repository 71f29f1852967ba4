import { expect } from 'chai';
import { decoderEnvironment } from '#operator/decoder-environment.ts';
import { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { declaredCatalogueKeys } from '#operator/server-environment.ts';
import { readConfig } from '#platform/config.ts';

const stores = { postgres: { managed: {} }, redis: { managed: {} }, objects: { managed: {} } };
const spec = MediaServerSpec.parse({ ...stores, metadata: { keysSecretRef: { name: 'catalogues' } } });
const needed = {
  FOYER_DATABASE_URL: 'postgres://x',
  FOYER_REDIS_URL: 'redis://x',
  FOYER_OBJECTS_URL: 'file:///x',
  FOYER_KEYS_FILE: '/x',
};

describe('spec.metadata.keysSecretRef', () => {
  it('reaches API and workers as keys by their names, and no process that decodes', () => {
    const data = { 'tmdb.apiKey': 'one\n', 'igdb.clientId': 'two', 'omdb.apiKey': '', '.dockerconfigjson': '{}' };
    const text = declaredCatalogueKeys(spec, new Map([['catalogues', data]])) ?? '';
    const environment = { ...needed, FOYER_CATALOGUE_KEYS: text };
    expect(readConfig(environment).declaredCatalogueKeys).to.deep.equal({
      'tmdb.apiKey': 'one',
      'igdb.clientId': 'two',
    });
    expect(decoderEnvironment(environment, {})).to.not.have.property('FOYER_CATALOGUE_KEYS');
    expect(declaredCatalogueKeys(MediaServerSpec.parse(stores), new Map())).to.equal(undefined);
    expect(readConfig(needed).declaredCatalogueKeys).to.equal(undefined);
  });
});
