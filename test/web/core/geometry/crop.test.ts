import { expect } from 'chai';
import { dragged, edgeOf, grabOf, inside, isWhole, WHOLE, withEdge } from '../../../../web/src/core/geometry/crop.ts';

const part = { x: 0.2, y: 0.2, width: 0.4, height: 0.4 };
const reach = { x: 0.03, y: 0.03 };

describe('a part of a picture', () => {
  it('has its edges inside the picture, and apart from each other', () => {
    expect(withEdge(part, 'left', -1)).to.deep.equal({ x: 0, y: 0.2, width: 0.6, height: 0.4 });
    expect(withEdge(part, 'left', 0.9)).to.deep.equal({ x: 0.55, y: 0.2, width: 0.05, height: 0.4 });
    expect(withEdge(part, 'right', 2)).to.deep.equal({ x: 0.2, y: 0.2, width: 0.8, height: 0.4 });
    expect(withEdge(part, 'top', 0.3)).to.deep.equal({ x: 0.2, y: 0.3, width: 0.4, height: 0.3 });
    expect(edgeOf(withEdge(part, 'bottom', 0), 'bottom')).to.equal(0.25);
    expect([isWhole(WHOLE), isWhole(part)]).to.deep.equal([true, false]);
    expect(inside({ x: -1, y: 0.12345 })).to.deep.equal({ x: 0, y: 0.123 });
  });

  it('is held at an edge, at a corner, or as a whole', () => {
    expect(grabOf(part, { x: 0.21, y: 0.4 }, reach)).to.deep.equal(['left']);
    expect(grabOf(part, { x: 0.61, y: 0.59 }, reach)).to.deep.equal(['right', 'bottom']);
    expect(grabOf(part, { x: 0.4, y: 0.4 }, reach)).to.equal('part');
    expect(grabOf(part, { x: 0.9, y: 0.4 }, reach)).to.equal('new');
    expect(grabOf(WHOLE, { x: 0.5, y: 0.5 }, reach)).to.equal('new');
  });

  it('follows a drag, and stays inside the picture', () => {
    const drag = { from: { x: 0.4, y: 0.4 }, to: { x: 0.9, y: 0.3 } };
    expect(dragged(part, 'part', drag)).to.deep.equal({ x: 0.6, y: 0.1, width: 0.4, height: 0.4 });
    expect(dragged(part, ['right', 'top'], drag)).to.deep.equal({ x: 0.2, y: 0.3, width: 0.7, height: 0.3 });
    const made = dragged(WHOLE, 'new', { from: { x: 0.5, y: 0.9 }, to: { x: 0.1, y: 1.4 } });
    expect(made).to.deep.equal({ x: 0.1, y: 0.9, width: 0.4, height: 0.1 });
    const point = { x: 1, y: 1 };
    expect(dragged(WHOLE, 'new', { from: point, to: point })).to.deep.equal({
      x: 0.95,
      y: 0.95,
      width: 0.05,
      height: 0.05,
    });
  });
});
