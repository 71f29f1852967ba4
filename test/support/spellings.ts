// Ways to write addresses and paths that attackers use to reach what they may not.

const hex = (n: number): string => `0x${n.toString(16)}`;
const octal = (n: number): string => `0${n.toString(8)}`;
const FULL_WIDTH = 0xff10;
const swapped = (text: string, from: number): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(from + Number(digit)));
const circled = (text: string): string =>
  text.replace(/\d/g, (digit) => (digit === '0' ? '⓪' : String.fromCodePoint(0x2460 + Number(digit) - 1)));

/** An IPv4 address as a host of a URL, in each way that a parser or a resolver may understand. */
export function spellingsOf(address: string): string[] {
  const parts = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const [low, lower] = [(b * 256 + c) * 256 + d, c * 256 + d];
  const groups = `${(a * 256 + b).toString(16)}:${lower.toString(16)}`;
  const plain = [
    address,
    `${address}.`,
    parts.map(hex).join('.'),
    parts.map((n) => hex(n).toUpperCase()).join('.'),
    parts.map(octal).join('.'),
    parts.map((n) => `000${n.toString(8)}`).join('.'),
    [hex(a), octal(b), c, d].join('.'),
    [a, hex(b), octal(c), hex(d)].join('.'),
    `${a}.${b}.${lower}`,
    `${hex(a)}.${b}.${hex(lower)}`,
    `${a}.${low}`,
    `${octal(a)}.${octal(low)}`,
    `${hex(a)}.${hex(low)}`,
    String(number),
    hex(number),
    octal(number),
    `${number}.`,
  ];
  const letters = [
    swapped(address, FULL_WIDTH),
    circled(address),
    address.replaceAll('.', '。'),
    address.replaceAll('.', '．'),
    address.replaceAll('.', '｡'),
    address.replace('.', '\u00AD.'),
    Array.from(address, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''),
  ];
  const wrapped = [
    `::ffff:${address}`,
    `::ffff:${groups}`,
    `0:0:0:0:0:ffff:${groups}`,
    `::FFFF:${groups.toUpperCase()}`,
    `::${address}`,
    `::ffff:0:${address}`,
    `64:ff9b::${address}`,
    `2002:${groups}::`,
    `2002:${groups}::1`,
    `64:ff9b:1::${groups}`,
    `2001:0:${groups}::`,
  ].map((text) => `[${text}]`);
  const disguised = [`media.example@${address}`, `a:b@${address}`, `${address}\\@media.example`];
  return [...plain, ...letters, ...wrapped, ...disguised];
}

/** Names and IPv6 addresses of this machine and of its link. */
export const OWN_NAMES: readonly string[] = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'ⓛocalhost',
    'ｌｏｃａｌｈｏｓｔ',
    'localho%73t',
    'loc\u00ADalhost',
  ],
  ...[
    'ip6-localhost',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::1%25lo]',
    '[fe80::1]',
    '[fe80::1%25eth0]',
  ],
  ...['[fd00:ec2::254]', '[ff02::1]', '[::ffff:0:0]', '0', '0x0', '00', '0.0'],
];

/** Addresses of the inside that a provider may name: this machine, its networks, link-local ones with the metadata of clouds. */
const INSIDE = [
  ...['127.0.0.1', '10.1.2.3', '172.16.0.9', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '198.18.0.1'],
];

/** Each of them in every spelling. */
export const INSIDE_SPELLINGS: readonly string[] = INSIDE.flatMap(spellingsOf).filter((host) => !host.includes('@'));

/** More than 220 hosts, none of which may be reached. */
export const INSIDE_HOSTS: readonly string[] = [
  ...INSIDE_SPELLINGS,
  ...OWN_NAMES,
  ...[
    'kubernetes.default.svc',
    'metadata.google.internal',
    'foyer.foyer.svc.cluster.local',
    'redis',
    'postgres.foyer.svc',
  ],
  ...[
    '[fc00::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '127.1',
    '127.255.255.254',
    '255.255.255.255',
    '224.0.0.1',
  ],
];

const STEPS = [
  '..',
  '..\\',
  '%2e%2e',
  '%2E%2E',
  '.%2e',
  '%252e%252e',
  '..%00',
  '．．',
  '‥',
  '..;',
  '....',
  '. .',
  '..\u200b',
];
const TARGETS = ['canary.txt', 'secret/canary.txt', 'etc/passwd', ''];

/** Paths that leave a folder, if anything in the way decodes, joins or normalises them. */
export const traversals: readonly string[] = [
  ...STEPS.flatMap((step) =>
    TARGETS.flatMap((target) => [`${step}/${target}`, `a/${step}/${step}/${target}`, `${step}\\${target}`]),
  ),
  ...['/etc/passwd', '//etc/passwd', '\\\\host\\share', 'C:\\canary.txt', 'file:///etc/passwd', '~/canary.txt', '/'],
  ...[
    '\0',
    'a\0/../canary.txt',
    './../canary.txt',
    'a/./../../canary.txt',
    'a//../../canary.txt',
    '..',
    '../',
    '../..',
  ],
].filter((path, at, all) => all.indexOf(path) === at);
