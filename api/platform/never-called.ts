/**
 * Never reachable, whatever a setting opens: this machine, link-local with its metadata services, tunnels into both,
 * and non-addresses.
 */
export const NEVER_CALLED: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '100.100.100.200/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/8',
  '2001::/32',
  '2002::/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'ff00::/8',
];
