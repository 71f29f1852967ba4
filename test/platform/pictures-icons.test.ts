// Untrusted icons: which are accepted, which are refused and why.
import { expect } from 'chai';
import fc from 'fast-check';
import sharp from 'sharp';
import { createPictures } from '#platform/pictures.ts';
import { gif, plain, png } from '#support/pictures.ts';
import { zipOf } from '#support/zip-files.ts';
import { rebuiltSvg, SvgRefused } from '../../api/platform/pictures-icon-svg.ts';

const pictures = createPictures(undefined);
const XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"';
const svg = (inside: string, attributes = 'viewBox="0 0 24 24"'): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${XLINK} ${attributes}>${inside}</svg>`;
const box = '<path d="M2 2h20v20H2z" fill="#336699"/>';

function verdict(text: string): string {
  try {
    rebuiltSvg(text);
    return 'taken';
  } catch (error) {
    return error instanceof SvgRefused ? error.fault : String(error);
  }
}

async function faultOf(bytes: Buffer): Promise<string> {
  const given = await pictures.icon(bytes);
  return given.ok ? 'taken' : given.fault;
}

const doubling = (levels: number): string =>
  Array.from({ length: levels }, (_, at) => `<g id="l${at + 1}"><use href="#l${at}"/><use href="#l${at}"/></g>`).join(
    '',
  );

describe('the drawing of an icon', () => {
  const cases: Record<string, [string, string][]> = {
    'svg-active-content': [
      ['a script', svg('<script>alert(1)</script>')],
      ['a script of another name space', svg('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>')],
      ['an event', svg('<path d="M0 0" onload="alert(1)"/>')],
      ['an event of any case', svg('<path d="M0 0" ONCLICK="alert(1)"/>')],
      ['an event of a part that is left out', svg('<metadata><b onload="x"/></metadata>')],
      ['a script in a part that is left out', svg('<metadata><script/></metadata>')],
      ['a style sheet', svg('<style>path{fill:red}</style>')],
      ['a style sheet by instruction', `<?xml-stylesheet href="a.css"?>${svg(box)}`],
      ['a foreign object', svg('<foreignObject><p/></foreignObject>')],
      ['an image', svg('<image href="#a"/>')],
      ['text', svg('<text>a</text>')],
      ['an animation', svg('<animate attributeName="x" to="1"/>')],
      ['a set', svg('<set attributeName="href" to="javascript:alert(1)"/>')],
      ['entities', `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svg('<desc>x</desc>')}`],
      ['an escape in a value', svg('<path style="fill:u\\72l(http://a.example/x)"/>')],
    ],
    'svg-external-reference': [
      ['a picture elsewhere', svg('<use href="http://a.example/x.svg#a"/>')],
      ['a file', svg('<use xlink:href="/etc/passwd#a"/>')],
      ['data', svg('<use href="data:image/svg+xml,x"/>')],
      ['a paint elsewhere', svg('<path fill="url(http://a.example/#x)" d="M0 0"/>')],
      ['a paint with quotes', svg(`<path fill="url('//a.example/#x')" d="M0 0"/>`)],
      ['a style elsewhere', svg('<path style="mask: url(file:///etc/passwd)"/>')],
      ['a reference of a part that is left out', svg('<metadata><a2 src="http://a.example"/></metadata>')],
      ['a gradient elsewhere', svg('<linearGradient href="other.svg#g"/>')],
    ],
    'svg-too-complex': [
      ['too many elements', svg('<g/>'.repeat(5001))],
      ['too deep', svg(`${'<g>'.repeat(40)}${'</g>'.repeat(40)}`)],
      ['too many commands', svg(`<path d="M0 0${'L1 1'.repeat(20_001)}"/>`)],
      ['a drawing that doubles itself', svg(`<g id="l0">${box}</g>${doubling(20)}`)],
      ['a circle', svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>')],
      ['a mask of itself', svg('<mask id="m"><path mask="url(#m)" d="M0 0"/></mask>')],
      ['a huge canvas', svg(box, 'width="1000000" height="10"')],
    ],
    corrupt: [
      ['no end', '<svg xmlns="http://www.w3.org/2000/svg"><path'],
      ['an unknown entity', svg('<desc>&nbsp;</desc>')],
      ['another root', '<html xmlns="http://www.w3.org/2000/svg"/>'],
    ],
    taken: [
      ['paths', svg(box)],
      [
        'a doctype without declarations',
        `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">${svg(box)}`,
      ],
      ['what an editor adds', svg(`<metadata><a/></metadata>${box}`, 'viewBox="0 0 1 1" data-name="x" class="y"')],
      [
        'a gradient and a clip path',
        svg(
          '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs><path fill="url(#g)" clip-path="url(#c)" d="M0 0"/>',
        ),
      ],
    ],
  };
  for (const [fault, list] of Object.entries(cases))
    it(`is ${fault}: ${list.map(([name]) => name).join(', ')}`, () => {
      for (const [name, text] of list) expect(verdict(text), name).to.equal(fault);
    });

  it('is rebuilt of allowed parts only, whatever it is made of', () => {
    const part = fc.constantFrom(
      'script',
      'path',
      'g',
      'use',
      'style',
      'image',
      'metadata',
      'rect',
      'a',
      'mask',
      'svg',
    );
    const name = fc.constantFrom('onload', 'href', 'xlink:href', 'style', 'fill', 'd', 'class', 'data-x', 'id', 'mask');
    const value = fc.constantFrom(
      '#a',
      'http://a.example',
      'url(#a)',
      'url(//x)',
      'M0 0',
      'fill:red',
      'javascript:x',
      '&lt;x',
      '"',
    );
    const element = fc
      .tuple(part, fc.uniqueArray(fc.tuple(name, value), { maxLength: 3, selector: ([one]) => one }))
      .map(
        ([tag, given]) => `<${tag}${given.map(([key, text]) => ` ${key}="${text.replace('"', '&quot;')}"`).join('')}/>`,
      );
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (parts) => {
        let made = '';
        try {
          made = rebuiltSvg(svg(parts.join('')));
        } catch (error) {
          if (!(error instanceof SvgRefused)) throw error;
        }
        expect(made).to.not.match(
          /script|onload|style|image|metadata|class|data-x|javascript|\/\/a\.example|\/\/x|xlink/i,
        );
      }),
    );
  });
});

describe('an icon', () => {
  it('of a drawing becomes squares of all sizes, without the drawing', async () => {
    const given = await pictures.icon(Buffer.from(svg(box)));
    if (!given.ok) throw new Error(given.fault);
    const { parts, bytes, tintable } = given.icon;
    expect(parts.map(({ size, format }) => `${size} ${format}`)).to.deep.equal(
      [24, 32, 48, 64, 96, 128, 256, 512].flatMap((size) => [`${size} png`, `${size} webp`]),
    );
    expect(tintable).to.equal(true);
    let at = 0;
    for (const { size, format, length } of parts) {
      const { width, height, hasAlpha, format: is } = await sharp(bytes.subarray(at, at + length)).metadata();
      expect({ width, height, hasAlpha, is }).to.deep.equal({ width: size, height: size, hasAlpha: true, is: format });
      at += length;
    }
    expect(at).to.equal(bytes.length);
    expect(bytes.includes('svg')).to.equal(false);
  });

  it('of pixels is centred, loses metadata and grows to twice its size at most', async () => {
    const wide = await sharp(await png(40, 20, '#00ff00'))
      .withExif({ IFD0: { Copyright: 'SECRET' } })
      .png()
      .toBuffer();
    const given = await pictures.icon(wide);
    if (!given.ok) throw new Error(given.fault);
    const { parts, bytes } = given.icon;
    expect([...new Set(parts.map(({ size }) => size))]).to.deep.equal([24, 32, 48, 64]);
    expect(bytes.includes('SECRET')).to.equal(false);
    const { data } = await sharp(bytes.subarray(0, parts[0]?.length)).raw().toBuffer({ resolveWithObject: true });
    expect([data[3], data[(12 * 24 + 12) * 4 + 3]], 'clear above, opaque in the middle').to.deep.equal([0, 255]);
  });

  it('is tintable when its opaque pixels share one hue', async () => {
    const two = (one: string, other: string): Buffer =>
      Buffer.from(svg(`<path d="M0 0h12v24H0z" fill="${one}"/><path d="M12 0h12v24H12z" fill="${other}"/>`));
    const tintable = async (bytes: Buffer) => {
      const given = await pictures.icon(bytes);
      return given.ok && given.icon.tintable;
    };
    expect(await tintable(two('#336699', '#6699cc'))).to.equal(true);
    expect(await tintable(two('#ff0000', '#ff0011')), 'hues around zero').to.equal(true);
    expect(await tintable(two('#ff0000', '#00ff00'))).to.equal(false);
    expect(await tintable(two('#000000', '#ffffff'))).to.equal(false);
  });

  it('is refused by its fault', async () => {
    const moving = await sharp(await gif(3))
      .webp()
      .toBuffer();
    const still = await sharp(await gif(3), { animated: true })
      .webp()
      .toBuffer();
    const frames = await png(32, 32);
    const pixels = frames.indexOf('IDAT') - 4;
    const apng = Buffer.concat([
      frames.subarray(0, pixels),
      Buffer.from('00000008', 'hex'),
      Buffer.from('acTL'),
      Buffer.alloc(12),
      frames.subarray(pixels),
    ]);
    const cases: [string, Buffer, string][] = [
      ['nothing', Buffer.alloc(40), 'not-an-image'],
      ['a film', Buffer.from('\u001aE\u00df\u00a3aaaaaaaaaaaa', 'latin1'), 'unsupported-format'],
      ['a GIF', await gif(2), 'unsupported-format'],
      ['an AVIF', await plain(64, 64).avif().toBuffer(), 'unsupported-format'],
      ['a moving WebP', still, 'animated'],
      ['one frame of it', moving, 'taken'],
      ['a moving PNG', apng, 'animated'],
      ['too small', await png(15, 40), 'too-small'],
      ['too many pixels', await png(4097, 16), 'too-large'],
      ['too many bytes', Buffer.concat([await png(32, 32), Buffer.alloc(2 << 20)]), 'too-large'],
      ['a drawing of too many bytes', Buffer.from(svg(`<desc>${'x'.repeat(262_144)}</desc>`)), 'too-large'],
      ['half a picture', (await png(300, 300)).subarray(0, 200), 'corrupt'],
      ['an SVG with a script', Buffer.from(svg('<script/>')), 'svg-active-content'],
    ];
    for (const [name, bytes, fault] of cases) expect(await faultOf(bytes), name).to.equal(fault);
  });
});

describe('an archive of icons', () => {
  const unpacked = async (bytes: Buffer): Promise<string[] | string> => {
    const given = await pictures.unpackIcons(bytes);
    return given.ok
      ? given.files.map(({ name, bytes: content }) => `${name}: ${content?.toString() ?? 'too large'}`)
      : given.fault;
  };

  it('is read by index: a name is a label, folders and hidden files are passed over', async () => {
    const zip = zipOf({
      '../../etc/cron.d/x.svg': 'a',
      'a/b.png': 'b',
      'a/': '',
      '__MACOSX/a/._b.png': 'c',
      '.hidden': 'd',
    });
    expect(await unpacked(zip)).to.deep.equal(['../../etc/cron.d/x.svg: a', 'a/b.png: b']);
  });

  it('of the same name twice gives both', async () => {
    const one = zipOf({ 'a.svg': '1', 'b.svg': '2' });
    for (let at = one.indexOf('b.svg'); at >= 0; at = one.indexOf('b.svg', at)) one.write('a.svg', at);
    expect(await unpacked(one)).to.deep.equal(['a.svg: 1', 'a.svg: 2']);
  });

  it('is refused over its limits, and when it lies about sizes', async () => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`${at}.svg`, '']));
    expect(await unpacked(zipOf(many))).to.equal('archive-limits');
    expect(await unpacked(zipOf({ 'bomb.svg': Buffer.alloc(1 << 20) }, 'deflated')), 'ratio').to.equal(
      'archive-limits',
    );
    const big = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`${at}.png`, Buffer.alloc(2 << 20, at)]));
    expect(await unpacked(zipOf(big)), 'content').to.equal('archive-limits');
    expect(await unpacked(zipOf({ 'a.png': Buffer.alloc((2 << 20) + 1) }))).to.deep.equal(['a.png: too large']);
    const lying = zipOf({ 'a.svg': Buffer.alloc(4000, 'x') }, 'deflated');
    const at = lying.indexOf('PK\u0001\u0002');
    lying.writeUInt32LE(10, at + 24);
    expect(await unpacked(lying)).to.equal('corrupt');
    expect(await unpacked(Buffer.from('PK\u0003\u0004 and nothing else'))).to.equal('corrupt');
  });
});
