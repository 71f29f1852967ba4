/** Addresses of the inside that a provider may name: this machine, its networks, link-local ones with the metadata of clouds. */
const INSIDE = [
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.9',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '198.18.0.1',
];

const WIDE = '０１２３４５６７８９';

/** The ways in which one IPv4 address can be written in a URL. */
function spellingsOf(address: string): string[] {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, length = 0): string => value.toString(16).padStart(length, '0');
  const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
  return [
    ...[address, `${address}.`, String(whole), `0x${hex(whole)}`, `0${whole.toString(8)}`],
    ...[bytes.map((one) => `0x${hex(one)}`).join('.'), bytes.map((one) => `0${one.toString(8)}`).join('.')],
    ...[`${a}.${(b * 256 + c) * 256 + d}`, `${a}.${b}.${c * 256 + d}`, `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`],
    ...[bytes.map((one) => `000${one.toString(8)}`).join('.'), `0X${hex(whole).toUpperCase()}`],
    ...[address.replace(/\d/g, (digit) => WIDE[Number(digit)] ?? ''), address.replaceAll('.', '。')],
    ...[address.replaceAll('.', '．'), address.replace(/^\d+/, (part) => part.replace(/\d/g, (one) => `%3${one}`))],
    ...[
      `[::ffff:${address}]`,
      `[::ffff:${groups}]`,
      `[0:0:0:0:0:ffff:${groups}]`,
      `[::${address}]`,
      `[64:ff9b::${address}]`,
    ],
    ...[`[64:ff9b:1::${groups}]`, `[2002:${groups}::]`, `[2001:0:${groups}::]`, `[::FFFF:${address}]`],
  ];
}

/** More than 220 hosts, none of which may be reached. */
export const INSIDE_HOSTS: readonly string[] = [
  ...INSIDE.flatMap(spellingsOf),
  ...[
    'localhost',
    'localhost.',
    'LOCALHOST',
    'ｌｏｃａｌｈｏｓｔ',
    'a.localhost',
    'ip6-localhost',
    'kubernetes.default.svc',
  ],
  ...['metadata.google.internal', 'foyer.foyer.svc.cluster.local', 'redis', 'postgres.foyer.svc'],
  ...[
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[fe80::1]',
    '[fd00:ec2::254]',
  ],
  ...[
    '[fc00::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '0',
    '127.1',
    '127.255.255.254',
    '255.255.255.255',
    '224.0.0.1',
  ],
];
