import { formatDate } from './helpers'
import type { Task } from './types'

type CardProps = { task: Task; compact?: boolean }

export function Card({
  task,
  compact = false,
}: CardProps) {
  const due = task.due
    ? formatDate(task.due)
    : 'never'
  return (
    <article className='card'>
      <h2>{task.title}</h2>
      {!compact && <p>due {due}</p>}
    </article>
  )
}

export const List = ({
  tasks,
}: {
  tasks: Task[]
}) => {
  const sorted = [...tasks].sort((one, other) =>
    one.title.localeCompare(other.title),
  )
  return (
    <ul>
      {sorted.map((task) => (
        <li key={task.id}>
          <Card task={task} compact />
        </li>
      ))}
    </ul>
  )
}

export default List
