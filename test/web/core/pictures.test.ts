import { expect } from 'chai';
import { blurhash } from '#platform/pictures-blurhash.ts';
import { averageColour, blurredPicture, pixelsOf } from '../../../web/src/core/geometry/blurhash.ts';
import { artFor, sourcesOf } from '../../../web/src/core/look/pictures.ts';

/** Left red, right blue. */
const halves = new Uint8Array(
  Array.from({ length: 16 * 16 }, (_, at) => (at % 16 < 8 ? [200, 20, 20] : [20, 20, 200])).flat(),
);
const hash = blurhash({ data: halves, width: 16, height: 16 });
const image = { id: 'a', kind: 'poster', width: 600, height: 900, blurhash: hash, version: '3' };

describe('pictures of the web app', () => {
  it('have the colours of their blurhash, which the server made', () => {
    const pixels = pixelsOf(hash, 8, 8);
    expect(pixels[0], 'red on the left').to.be.greaterThan(150);
    expect(pixels[7 * 3 + 2], 'blue on the right').to.be.greaterThan(150);
    expect(averageColour(hash)).to.match(/^rgb\(1[34]\d 20 1[34]\d\)$/);
    expect(blurredPicture(hash)).to.match(/^data:image\/bmp;base64,Qk/);
    for (const wrong of [null, undefined, '', 'L', 'L00000', `${hash}x`, `"${hash.slice(1)}`])
      expect([averageColour(wrong), blurredPicture(wrong)], String(wrong)).to.deep.equal([undefined, undefined]);
  });

  it('are requested in sizes of the server, twice as large for dense screens, and once while data is saved', () => {
    const [one, two] = ['/api/v1/images/a?width=240&v=3', '/api/v1/images/a?width=480&v=3'];
    expect(sourcesOf(image, 240, { saving: false })).to.deep.equal({ src: one, srcset: `${one} 1x, ${two} 2x` });
    expect(sourcesOf(image, 240, { saving: true })).to.deep.equal({ src: one, srcset: '' });
    expect(sourcesOf(image, 255, { saving: true }).src, 'a tenth smaller is enough').to.equal(one);
    expect(sourcesOf(image, 96, { saving: true, square: true }).src).to.include('width=96&height=96&fit=cover');
  });

  it('fit the shape of their place first', () => {
    const thumb = { ...image, kind: 'thumb' };
    expect(artFor({ poster: image, thumb }, 'landscape')).to.equal(thumb);
    expect(artFor({ poster: image, thumb }, 'poster')).to.equal(image);
    expect(artFor({ thumb }, 'poster')).to.equal(thumb);
    expect(artFor(undefined, 'poster')).to.equal(undefined);
  });
});
