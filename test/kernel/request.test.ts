import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { addressGroup, clientOf, inRanges, requestIdOf } from '#kernel/request.ts';

const TRUSTED = ['10.0.0.0/8', 'fd00::/8'];
const network = { trustedProxies: TRUSTED, localRanges: ['192.168.0.0/16', '::1/128'] };

const request = (peer: string, headers: Record<string, string> = {}): IncomingMessage =>
  ({ headers, socket: { remoteAddress: peer } }) as unknown as IncomingMessage;
const addressOf = (peer: string, forwarded?: string): string =>
  clientOf(request(peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }), network).address;

const proxy = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.constantFrom('fd00::1', '::ffff:10.1.2.3', 'FD12:0:0:0::9'),
);
const stranger = fc.oneof(
  fc.tuple(fc.integer({ min: 11, max: 99 }), fc.nat(255)).map(([a, b]) => `${a}.7.7.${b}`),
  fc.constantFrom('2001:db8::5', 'fe80::1', '127.0.0.1', '::1', '192.168.1.5'),
);
const nonsense = fc.oneof(fc.string(), fc.constantFrom('unknown', '_hidden', '10.0.0.1:80', '[::1]', '10.0.0.300', ''));

describe('the client behind proxies', () => {
  it('cannot choose its own address by any header, unless every hop after it is trusted', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(proxy, stranger, nonsense)), stranger, fc.array(proxy), (forged, real, hops) => {
        // The proxies append: the header of the client, then the client's own address, then the proxies before the
        // last.
        const [last = '', ...before] = hops.toReversed();
        const header = [...forged, real, ...before.toReversed()].join(', ');
        if (last) expect(addressOf(last, header)).to.equal(real);
        expect(addressOf(real, header), 'with no proxy at all').to.equal(real);
      }),
      { numRuns: 500 },
    );
  });

  it('goes by the nearest hop that means something when a trusted proxy passes on nonsense', () => {
    fc.assert(
      fc.property(nonsense, proxy, (word, peer) => {
        const plain = peer.replace('::ffff:', '');
        if (!word.includes(',') && word.trim() !== '10.0.0.1') expect(addressOf(peer, word)).to.equal(plain);
      }),
    );
    expect(addressOf('10.0.0.1', '8.8.8.8, nonsense, 10.0.0.2')).to.equal('10.0.0.2');
    expect(addressOf('10.0.0.1')).to.equal('10.0.0.1');
  });

  it('takes an IPv4 address in IPv6 as IPv4', () => {
    expect(addressOf('::ffff:8.8.8.8')).to.equal('8.8.8.8');
    expect(addressOf('::ffff:10.0.0.1', '::ffff:9.9.9.9')).to.equal('9.9.9.9');
  });

  it('believes x-forwarded-proto of a trusted proxy alone', () => {
    const secure = (peer: string, proto: string): boolean =>
      clientOf(request(peer, { 'x-forwarded-proto': proto }), network).secure;
    expect(secure('10.0.0.1', 'https')).to.equal(true);
    expect(secure('10.0.0.1', 'http')).to.equal(false);
    expect(secure('8.8.8.8', 'https')).to.equal(false);
  });

  it('is local only by the address that counts', () => {
    const local = (peer: string, forwarded: string): boolean =>
      clientOf(request(peer, { 'x-forwarded-for': forwarded }), network).local;
    expect(local('10.0.0.1', '192.168.1.4')).to.equal(true);
    expect(local('8.8.8.8', '192.168.1.4')).to.equal(false);
    expect(local('192.168.1.4', '8.8.8.8')).to.equal(true);
  });

  it('takes names and ids of the right shape only', () => {
    const clientFor = (headers: Record<string, string>) => clientOf(request('8.8.8.8', headers), network);
    expect(clientFor({ 'x-client-id': 'a'.repeat(16), 'x-client-name': 'Living room' })).to.include({
      id: 'a'.repeat(16),
      name: 'Living room',
    });
    for (const id of ['short', 'a'.repeat(65), `${'a'.repeat(16)}/..`, `${'a'.repeat(16)}\n`])
      expect(clientFor({ 'x-client-id': id }), id).to.not.have.property('id');
    expect(clientFor({ 'x-client-name': 'a\u0000b' })).to.not.have.property('name');
    expect(clientFor({ 'x-client-name': 'n'.repeat(100) }).name).to.have.length(60);
    expect(requestIdOf(request('8.8.8.8', { 'x-request-id': 'a b' }))).to.equal(undefined);
    expect(requestIdOf(request('8.8.8.8', { 'x-request-id': 'a.b_c-1' }))).to.equal('a.b_c-1');
  });
});

describe('ranges', () => {
  it('hold the addresses that they name; an invalid range holds none and breaks nothing', () => {
    expect(inRanges('10.1.1.1', ['10.0.0.0/8'])).to.equal(true);
    expect(inRanges('8.8.8.8', ['8.8.8.8'])).to.equal(true);
    expect(inRanges('fd00::1', ['fd00::/8'])).to.equal(true);
    for (const wrong of ['10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/-1', '10.0.0.0/', 'lan', '', '/8', '::/129'])
      expect(inRanges('10.0.0.1', [wrong]), wrong).to.equal(false);
    expect(inRanges('10.0.0.1', ['nonsense', '10.0.0.0/99', '10.0.0.0/8'])).to.equal(true);
    expect(inRanges('not an address', ['0.0.0.0/0'])).to.equal(false);
  });
});

describe('addressGroup', () => {
  it('is the same for every address and spelling of a /64, and another for its neighbour', () => {
    const hex = fc.nat(0xffff);
    fc.assert(
      fc.property(fc.tuple(hex, hex, hex), fc.tuple(hex, hex, hex, hex), ([b, c, d], host) => {
        const full = [0x2001, b, c, d, ...host].map((part) => part.toString(16)).join(':');
        const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        const other = [0x2001, b, c, d, 1, 2, 3, 4].map((part) => part.toString(16).padStart(4, '0')).join(':');
        expect(addressGroup(short)).to.equal(addressGroup(full)).and.equal(addressGroup(other.toUpperCase()));
        const next = [0x2001, b, c, (d + 1) & 0xffff, ...host].map((part) => part.toString(16)).join(':');
        expect(addressGroup(next)).to.not.equal(addressGroup(full));
      }),
    );
    expect(addressGroup('2001:db8::1')).to.equal(addressGroup('2001:db8::2:3:4'));
    expect(addressGroup('8.8.8.8')).to.equal('8.8.8.8');
  });
});
