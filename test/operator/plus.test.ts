import { expect } from 'chai';
import { plusEnvironment, plusMessage, verifierFault } from '#operator/plus-environment.ts';
import type { MediaServerSpec } from '#operator/schemas/media-server.ts';
import { readConfig } from '#platform/config.ts';

const NEEDED = {
  FOYER_DATABASE_URL: 'postgres://x',
  FOYER_REDIS_URL: 'redis://x',
  FOYER_OBJECTS_URL: 'file:///x',
  FOYER_KEYS_FILE: '/x',
};

const X = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'; // of RFC 8037
const JWKS = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"${X}"}]}`;
const secret = ({ name, key }: { name: string; key: string }) => `Secret ${name}.${key}`;
const none = new Map<string, Record<string, string>>();
const holding = (text: string) => new Map([['keys', { 'jwks.json': text }]]);
const byName = { verifierKeys: { configMapRef: { name: 'keys' } } };

describe('operator: licensing', () => {
  it('passes the verifier to the processes, inline or of a ConfigMap, and a declared licence', () => {
    const environmentFor = (plus: MediaServerSpec['plus'], configMaps = none) =>
      plusEnvironment<string>({ plus }, { configMaps, secret });
    expect(environmentFor(undefined)).to.deep.equal({});
    expect(environmentFor({ verifierKeys: { jwks: JWKS } })).to.deep.equal({ FOYER_PLUS_VERIFIER: JWKS });
    const plus = { ...byName, licenceSecretRef: { name: 'plus', key: 'licence' } };
    expect(environmentFor(plus, holding(JWKS))).to.deep.equal({
      FOYER_PLUS_VERIFIER: JWKS,
      FOYER_PLUS_LICENCE: 'Secret plus.licence',
    });
    expect(plusMessage({ plus })).to.contain('Secret plus');
  });

  it('reports the fault of a verifier before pods fail on it', () => {
    const bad = [
      ...['', '{', '{"keys":[]}', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"short"}]}'],
      `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"${X}","d":"private"}]}`,
    ];
    const inline = (jwks: string) => verifierFault({ plus: { verifierKeys: { jwks } } }, none);
    const named = (text: string) => verifierFault({ plus: byName }, holding(text));
    expect(inline(JWKS)).to.equal(undefined);
    expect(named(JWKS)).to.equal(undefined);
    for (const text of bad) {
      expect(inline(text), text).to.contain('spec.plus.verifierKeys.jwks');
      expect(named(text), text).to.contain('ConfigMap keys');
      expect(() => readConfig({ ...NEEDED, FOYER_PLUS_VERIFIER: text }), text).to.throw('FOYER_PLUS_VERIFIER');
    }
    expect(readConfig({ ...NEEDED, FOYER_PLUS_VERIFIER: JWKS }).plusVerifier).to.have.length(1);
    expect(verifierFault({ plus: byName }, new Map([['keys', {}]]))).to.contain('has no key jwks.json');
    expect(verifierFault({ plus: byName }, none), 'reported as a missing ConfigMap').to.equal(undefined);
  });
});
