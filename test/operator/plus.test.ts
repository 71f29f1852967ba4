import { expect } from 'chai';
import { plusEnvironment, plusSaid, verifierFault } from '#operator/plus-environment.ts';

const JWKS = '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"x"}]}';
const make = {
  text: (jwks: string) => jwks,
  configMap: (name: string) => `ConfigMap ${name}`,
  secret: ({ name, key }: { name: string; key: string }) => `Secret ${name}.${key}`,
};

describe('operator: licensing', () => {
  it('tells the processes of the verifier, inline or in a ConfigMap, and of a declared licence', () => {
    expect(plusEnvironment({ plus: undefined }, make)).to.deep.equal({});
    expect(plusEnvironment({ plus: { verifierKeys: { jwks: JWKS } } }, make)).to.deep.equal({
      FOYER_PLUS_VERIFIER: JWKS,
    });
    const plus = {
      verifierKeys: { configMapRef: { name: 'keys' } },
      licenceSecretRef: { name: 'plus', key: 'licence' },
    };
    expect(plusEnvironment({ plus }, make)).to.deep.equal({
      FOYER_PLUS_VERIFIER: 'ConfigMap keys',
      FOYER_PLUS_LICENCE: 'Secret plus.licence',
    });
    expect(plusSaid({ plus })).to.contain('Secret plus');
  });

  it('says what is wrong with a verifier before pods fail on it', () => {
    const fault = (jwks: string) => verifierFault({ plus: { verifierKeys: { jwks } } });
    expect(fault(JWKS)).to.equal(undefined);
    for (const jwks of ['', '{', '{"keys":[]}', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"x","d":"private"}]}'])
      expect(fault(jwks), jwks).to.contain('spec.plus.verifierKeys.jwks');
  });
});
