import { Board } from '../src/board'
import { formatDate } from '../src/helpers'

function makeBoard(limit = 2) {
  return new Board({ title: 'test', limit })
}

test('a board counts', () => {
  expect(makeBoard().size()).toBe(0)
})

test('dates are shown', () => {
  expect(formatDate(new Date(0))).toBe('1/1/1970')
})
