import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Keys, readKeys, seal, sign, unseal } from '#platform/keys.ts';
import { writeKeys } from '#support/keys.ts';
import { temporaryFolder } from '#support/stores.ts';

interface Ring {
  signing: unknown[];
  sealing: { kid: string; key: string }[];
  cursor: string;
}

describe('keys', () => {
  const folder = temporaryFolder('keys');
  const file = join(folder, 'keys.json');
  let keys: Keys;
  before(async () => {
    await writeKeys(file);
    keys = await readKeys(file);
  });

  /** The ring after a change by `edit`, read as a process would. */
  const changed = async (edit: (ring: Ring) => void): Promise<Keys> => {
    const ring = JSON.parse(readFileSync(file, 'utf8')) as Ring;
    edit(ring);
    const other = join(folder, 'changed.json');
    writeFileSync(other, JSON.stringify(ring));
    return readKeys(other);
  };
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('opens its own sealed values, any text, and seals differently each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, place) => {
        const sealed = seal(keys, text, place);
        expect(unseal(keys, sealed, place)).to.equal(text);
        expect(seal(keys, text, place)).to.not.equal(sealed);
      }),
    );
  });

  it('does not open in another row or column, nor when a single bit was changed', () => {
    const sealed = seal(keys, 'totp secret', 'accounts|totp|1');
    for (const place of ['accounts|totp|2', 'accounts|email|1', '', 'accounts|totp|1 '])
      expect(unseal(keys, sealed, place)).to.equal(undefined);
    const [kid = '', body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const other = Buffer.from(bytes);
      other[at] = (other[at] ?? 0) ^ 1;
      expect(unseal(keys, `${kid}.${other.toString('base64url')}`, 'accounts|totp|1'), `byte ${at}`).to.equal(
        undefined,
      );
    }
    for (const text of ['', '.', kid, `${kid}.`, `${kid}.AAAA`, `other.${body}`, body])
      expect(unseal(keys, text, 'accounts|totp|1'), text).to.equal(undefined);
  });

  it('seals under a new first key and opens values of the old one until that is gone', async () => {
    const old = seal(keys, 'kept', 'place');
    const both = await changed((ring) => ring.sealing.unshift({ kid: 'k2', key: randomBytes(32).toString('base64') }));
    expect(unseal(both, old, 'place')).to.equal('kept');
    const fresh = seal(both, 'new', 'place');
    expect(fresh).to.match(/^k2\./);
    expect(unseal(keys, fresh, 'place'), 'the old ring').to.equal(undefined);
    const alone = { ...both, sealing: both.sealing.slice(0, 1) };
    expect([unseal(alone, fresh, 'place'), unseal(alone, old, 'place')]).to.deep.equal(['new', undefined]);
  });

  it('signs the same text the same way, and only that', () => {
    expect(sign(keys, 'cursor')).to.have.length(16).and.deep.equal(sign(keys, 'cursor'));
    expect(sign(keys, 'cursor')).to.not.deep.equal(sign(keys, 'cursos'));
  });

  it('starts no process without a whole ring, and reveals nothing about the keys', async () => {
    expect(await failure(readKeys(join(folder, 'absent.json')))).to.be.instanceOf(Error);
    const short = randomBytes(16).toString('base64');
    const edits: ((ring: Ring) => void)[] = [
      (ring) => ring.signing.splice(0),
      (ring) => ring.sealing.splice(0),
      (ring) => ring.sealing.splice(0, 1, { kid: 'k1', key: short }),
      (ring) => {
        ring.cursor = short;
      },
      (ring) => {
        ring.cursor = 'not base64 at all';
      },
    ];
    for (const edit of edits) {
      const error = await failure(changed(edit));
      expect(error, String(edit)).to.be.instanceOf(Error);
      expect(String(error)).to.not.include(short);
    }
  });
});
