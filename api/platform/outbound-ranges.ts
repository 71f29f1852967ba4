import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Networks that are not part of the public internet; those of the cluster are passed as `deny`. */
const DENIED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'], // documentation
  // Of IPv6 only 2000::/3 is public: this excludes ::, ::1, NAT64 (64:ff9b::/96), fc00::/7, fe80::/10 and ff00::/8.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/32', // Teredo and 6to4 contain an IPv4 address
  '2002::/16',
];

/** Addresses of this machine. */
export const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));

export interface Ranges {
  four: BlockList;
  six: BlockList;
}

/**
 * Two lists, because in one Node would match every IPv4 address by a short IPv6 prefix. Throws for a malformed CIDR.
 */
export function ranges(cidrs: readonly string[]): Ranges {
  const made = { four: new BlockList(), six: new BlockList() };
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/');
    if (isIP(network) === 6) made.six.addSubnet(network, Number(bits ?? 128), 'ipv6');
    else made.four.addSubnet(network, Number(bits ?? 32), 'ipv4');
  }
  return made;
}

/** Whether one of the ranges contains the address. */
export function within(list: Ranges, address: string): boolean {
  return isIP(address) === 6 ? list.six.check(address, 'ipv6') : list.four.check(address, 'ipv4');
}

const denied = ranges(DENIED);

/** Whether an address is not public, or belongs to this machine. */
export const isInside = (address: string, own: readonly string[]): boolean =>
  within(denied, address) || own.includes(address);
