import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Loopback, link-local and reserved networks; an admin's own private network is allowed. */
const NEVER = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::/127', 'fe80::/10', 'ff00::/8'];

/** The address of the mail server is not allowed. */
export class AddressRefused extends Error {}

function blocked(apiServer: string | undefined): BlockList {
  const list = new BlockList();
  for (const range of [...NEVER, ...(apiServer ? [apiServer] : [])]) {
    const [network = '', bits] = range.split('/');
    const six = isIP(network) === 6;
    list.addSubnet(network, Number(bits ?? (six ? 128 : 32)), six ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** A checked address of the host. Throws `AddressRefused`, or the error of the lookup. */
export async function smtpAddress(host: string, apiServer = process.env.KUBERNETES_SERVICE_HOST): Promise<string> {
  const bare = host.replace(/^\[|\]$/g, '');
  const found = isIP(bare) ? [{ address: bare }] : await lookup(bare, { all: true });
  const list = blocked(apiServer);
  for (const { address } of found) {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    if (list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4'))
      throw new AddressRefused('a mail server is not reached at this address');
  }
  const [first] = found;
  if (!first) throw new AddressRefused('the name has no address');
  return first.address;
}
